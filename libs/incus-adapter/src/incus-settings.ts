import 'reflect-metadata';
import { Type } from 'class-transformer';
import { IsArray, IsIn, IsNotEmpty, IsOptional, IsString, Matches, ValidateNested } from 'class-validator';

/** An image server that new containers may come from, as `name:image`. */
export class ImageRemoteSettings {
  /** The part of an image before the colon. */
  @Matches(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, { message: '$property must be a name such as images' }) name!: string;
  @Matches(/^https:\/\/[^\s@#?]+$/, { message: '$property must be a URL such as https://images.example.org' })
  url!: string;
  /** Default simplestreams; oci needs a server with the API extension `instance_oci`. */
  @IsOptional() @IsIn(['simplestreams', 'oci']) protocol?: 'simplestreams' | 'oci';
}

/** The settings of an Incus or LXD server in the configuration of the service. */
export class IncusSettings {
  /** The unix socket of a daemon on this machine; by default that of Incus, or else of LXD. */
  @IsOptional() @Matches(/^\//, { message: '$property must be an absolute path' }) socket?: string;
  /** The URL of a server on the network, in place of a socket. */
  @IsOptional()
  @Matches(/^https:\/\/[^\s@#?/]+\/?$/, { message: '$property must be a URL such as https://host:8443' })
  address?: string;
  /**
   * SHA-256 of the certificate of the server; by default that in the trust token. Without both, an authority that this
   * machine trusts must have signed it.
   */
  @IsOptional()
  @Matches(/^[0-9a-fA-F]{64}$/, { message: '$property must be 64 hexadecimal digits' })
  fingerprint?: string;
  /** A token of `incus config trust add`. The server accepts it once, so it may stay in the configuration. */
  @IsOptional() @Matches(/^[A-Za-z0-9+/=_-]+$/, { message: '$property must be a token' }) trustToken?: string;
  /** Files with the certificate and the key of this service, in PEM; by default it creates its own. */
  @IsOptional() @IsString() @IsNotEmpty() clientCertificate?: string;
  @IsOptional() @IsString() @IsNotEmpty() clientKey?: string;
  /** The only project of this context; by default all that the server shows. */
  @IsOptional() @Matches(/^[^\s/?&]+$/, { message: '$property must be the name of a project' }) project?: string;
  /** The storage pool of new containers; by default that of their profile. */
  @IsOptional() @IsString() @IsNotEmpty() pool?: string;
  /** The image servers that new containers may come from. By default none: only images of the server itself. */
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ImageRemoteSettings)
  imageServers?: ImageRemoteSettings[];
}
