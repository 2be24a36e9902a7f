import type { CallServiceSettings } from '@headgate/homeserver-contracts';

/** Settings of the embedded homeserver, and the token under which its providers receive them. */
export abstract class EmbeddedOptions {
  /** The server's name in user ids, and the destination in the signatures of peers. */
  abstract readonly serverName: string;
  /** The folder of the database and the media files. It is created when it does not exist. */
  abstract readonly dataDir: string;
  /** Whether users can register. */
  abstract readonly registration: boolean;
  /** Registering requires one of these tokens. Empty: no token is required. */
  abstract readonly registrationTokens: readonly string[];
  /** The media service for calls. Without a URL, its endpoint does not exist. */
  abstract readonly callService: CallServiceSettings;
  /** Other servers whose OpenID tokens are accepted, after they have confirmed them. */
  abstract readonly trustedServers: readonly string[];
  /** Fixed URLs of peers by server name. Only these may be private addresses. */
  abstract readonly peers: Readonly<Record<string, string>>;
  /** The limits on delayed events that apply now. */
  abstract delayedEvents(): { readonly maxDelayMs: number; readonly maxPerRoom: number };
}
