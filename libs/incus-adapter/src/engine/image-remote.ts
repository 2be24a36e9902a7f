/** An image server of the configuration. */
export interface ImageRemote {
  readonly url: string;
  readonly protocol: 'simplestreams' | 'oci';
}
