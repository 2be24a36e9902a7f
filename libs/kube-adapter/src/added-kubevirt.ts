import 'reflect-metadata';
import { mergeSettings, SettingError, type AddedKind } from '@headgate/domain-contracts';
import { IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { reduceKubeconfig, readReducedKubeconfig } from './api/reduced-kubeconfig.js';

const MAX_KUBECONFIG_CHARS = 65_536;

/** The settings of a cluster that an administrator adds. */
export class AddedKubevirtSettings {
  /**
   * The text of a kubeconfig with the credentials in it: a token, or a certificate and key in Base64. Kubeconfigs that
   * run programs or name files are refused.
   */
  @IsOptional() @IsString() @IsNotEmpty() @MaxLength(MAX_KUBECONFIG_CHARS) kubeconfig?: string;
  /** A kubeconfig file on the machine of the service, in place of its text, where the configuration allows it. */
  @IsOptional()
  @MaxLength(1000)
  @Matches(/^\//, { message: '$property must be an absolute path' })
  kubeconfigFile?: string;
  /** The context in the kubeconfig; by default its current one. */
  @IsOptional() @IsString() @IsNotEmpty() @MaxLength(253) kubeContext?: string;
}

export const addedKubevirt: AddedKind<AddedKubevirtSettings> = {
  settings: AddedKubevirtSettings,
  usualPaths: [],
  reduce: (context, { kubeconfig, kubeconfigFile, kubeContext }) => {
    if ((kubeconfig === undefined) === (kubeconfigFile === undefined)) {
      throw new SettingError(context, 'either kubeconfig or kubeconfigFile must be given');
    }
    return kubeconfig === undefined
      ? { kubeconfigFile, ...(kubeContext !== undefined && { kubeContext }) }
      : { kubeconfig: reduceKubeconfig(context, kubeconfig, kubeContext) };
  },
  merge: (context, before, change) => {
    const isGiven = (key: keyof AddedKubevirtSettings): boolean => typeof change[key] === 'string';
    // The server and the credentials are one text, so the kept ones never get another server.
    if (isGiven('kubeconfig')) return mergeSettings({}, change);
    if (before.kubeconfig !== undefined && isGiven('kubeContext') && !isGiven('kubeconfigFile')) {
      const problem = 'kubeconfig must be given again for another kubeContext, because only one context of it is kept';
      throw new SettingError(context, problem);
    }
    const { kubeconfig: _kept, ...others } = before;
    return mergeSettings(isGiven('kubeconfigFile') ? others : before, change);
  },
  engineOf: ({ kubeconfig, kubeconfigFile, kubeContext }) =>
    kubeconfigFile === undefined
      ? readReducedKubeconfig(kubeconfig).server
      : JSON.stringify([kubeconfigFile, kubeContext]),
  targets: ({ kubeconfig, kubeconfigFile }) => {
    if (kubeconfigFile !== undefined) return [{ path: kubeconfigFile }];
    const { server } = readReducedKubeconfig(kubeconfig);
    const { hostname, port, protocol } = new URL(server);
    const usualPort = protocol === 'https:' ? 443 : 80;
    return [{ host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? usualPort : Number(port) }];
  },
  describe: ({ kubeconfig, kubeconfigFile, kubeContext }) => ({
    ...(kubeconfig !== undefined && readReducedKubeconfig(kubeconfig)),
    ...(kubeconfigFile !== undefined && { kubeconfigFile }),
    ...(kubeContext !== undefined && { kubeContext }),
  }),
  open: async ({ context, settings, clock, log, mayWrite, takePicture }) => {
    const { kubeconfig, kubeconfigFile, kubeContext } = settings;
    const { KubeBackend } = await import('./kube-backend.js');
    const source = kubeconfigFile === undefined ? { text: kubeconfig ?? '' } : { file: kubeconfigFile };
    return {
      backend: KubeBackend.open({ context, clock, log, mayWrite, takePicture, kubeconfig: source, kubeContext }),
    };
  },
};
