import type { PluginManifest } from '../format/manifest.js';

/** The archive of one version of a plugin. */
export interface PluginOffer extends Pick<PluginManifest, 'name' | 'description' | 'version' | 'apiVersion'> {
  /** `bundled`, or the URL of the index that offers it. */
  readonly origin: string;
  /** Of the archive. */
  readonly digest: string;
  /** The name of the publisher whose signature is verified; a bundled plugin needs none. */
  readonly publisher?: string;
  /**
   * Fetches the archive and verifies its length, its digest and its signature.
   * @throws DomainError INVALID_PLUGIN, and the errors of the download
   */
  fetch(signal: AbortSignal): Promise<Buffer>;
}

/** A place that offers plugins. */
export abstract class PluginSource {
  /** `bundled`, or a URL. */
  abstract readonly origin: string;
  /** @throws Error when the offers are not known */
  abstract offers(): Promise<readonly PluginOffer[]>;
}
