import 'reflect-metadata';
import { Type } from 'class-transformer';
import {
  IsArray,
  IsBoolean,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';

/** Builds of disks in a cluster, from bootable container images. */
export class DiskBuildsSettings {
  /** Repositories such as quay.io/fedora/fedora-bootc, or paths of repositories that end in /; * allows any image. */
  @IsArray() @IsString({ each: true }) @IsNotEmpty({ each: true }) images!: string[];
  /** An image with bootc that runs instead of the built image. */
  @IsOptional() @IsString() @IsNotEmpty() builderImage?: string;
  /** A Secret with the credentials of registries, in the namespaces of the VMs. */
  @IsOptional() @IsString() @IsNotEmpty() pullSecret?: string;
  @IsOptional() @IsInt() @Min(1) @Max(1440) timeoutMinutes?: number;
}

/** Where the usage of VMs is read besides metrics.k8s.io. */
export class KubevirtMetricsSettings {
  /** Whether disk and network are read from virt-handler, through the proxy to KubeVirt's pods. Default false. */
  @IsOptional() @IsBoolean() handlers?: boolean;
}

/** The settings of a cluster in the configuration of the service. */
export class KubevirtSettings {
  /** The kubeconfig file; by default KUBECONFIG, ~/.kube/config or the pod's service account. */
  @IsOptional() @IsString() @IsNotEmpty() kubeconfig?: string;
  /** The context in that file; by default its current one. */
  @IsOptional() @IsString() @IsNotEmpty() kubeContext?: string;
  /** The URL of CDI's upload proxy; by default the one that CDI reports. */
  @IsOptional()
  @Matches(/^https?:\/\/[^\s@#?]+$/, { message: '$property must be a URL such as https://cdi-uploadproxy.example.org' })
  uploadProxy?: string;
  /** A file with certificate authorities, in PEM, that the upload proxy's certificate may have. */
  @IsOptional() @IsString() @IsNotEmpty() uploadProxyCa?: string;
  /** Allows builds in the cluster, in privileged pods. By default disks are built on the machine of the service. */
  @IsOptional() @ValidateNested() @Type(() => DiskBuildsSettings) diskBuilds?: DiskBuildsSettings;
  /** Whether the service may cordon and drain nodes, for which its account needs to patch them. Default false. */
  @IsOptional() @IsBoolean() nodeScheduling?: boolean;
  /** The namespace in which backups are booted as a proof. By default that of the VM, or that of new VMs. */
  @IsOptional()
  @Matches(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, { message: '$property must be the name of a namespace' })
  proofNamespace?: string;
  @IsOptional() @ValidateNested() @Type(() => KubevirtMetricsSettings) metrics?: KubevirtMetricsSettings;
}
