import type { Logger } from 'pino';
import type { OpenedCertificate } from './open-certificate.js';
import type { ChosenContexts } from '../composition/choose-contexts.js';
import type { Settings } from '../config/load-config.js';
import type { PeerUsers } from './peer-users.js';

/** The inputs of the application. */
export interface AppDeps {
  readonly settings: Settings;
  readonly contexts: ChosenContexts;
  readonly log: Logger;
  /** Folder of the built console. */
  readonly pageDir: string;
  /** Identifies the users of loopback connections; by default those that the kernel reports. */
  readonly peerUsers?: PeerUsers;
}

/** `AppDeps`, and the certificate that the settings name. */
export interface OpenedDeps extends AppDeps, OpenedCertificate {}

/** Injects `AppDeps['settings']`. */
export const SETTINGS = Symbol('SETTINGS');
/** Injects `AppDeps['contexts']`. */
export const CONTEXTS = Symbol('CONTEXTS');
/** Injects `AppDeps['log']`. */
export const LOGGER = Symbol('LOGGER');
/** Injects `AppDeps['pageDir']`. */
export const PAGE_DIR = Symbol('PAGE_DIR');
/** Injects `AppDeps['peerUsers']`. */
export const PEER_USERS = Symbol('PEER_USERS');
/** Injects `OpenedDeps['tls']`. */
export const TLS_FILES = Symbol('TLS_FILES');
/** Injects `OpenedDeps['acme']`. */
export const ACME = Symbol('ACME');
