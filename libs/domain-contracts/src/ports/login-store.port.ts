import type { TokenAction } from '../model/grant.js';

/** A session of a browser in which a user has logged in, as it is stored: its secret is known only to the browser. */
export interface LoginSession {
  /** Names the session in lists; it opens nothing. */
  readonly id: string;
  /** SHA-256 of the text that the browser presents, in hexadecimal digits. */
  readonly hash: string;
  readonly login: string;
  readonly name: string;
  /** As the login provider reported them at the login. */
  readonly groups: readonly string[];
  /** The ID of the login provider; empty for an account of the service. */
  readonly provider: string;
  /** The ID token of the provider, by which the provider recognizes the session to end. */
  readonly idToken?: string;
  /** The IP address at the login. */
  readonly address: string;
  /** The User-Agent header at the login. */
  readonly agent: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly expiresAt: string;
}

/** A key pair of a user's device, of which the service has the public key. */
export interface Passkey {
  /** The ID of the credential, in Base64url. */
  readonly id: string;
  /** As the user has named it. */
  readonly name: string;
  /** In the format of COSE, in Base64url. */
  readonly publicKey: string;
  /** The counter of the authenticator at the last login; 0 if it has none. */
  readonly counter: number;
  /** How the browser can reach the authenticator, such as `usb`. */
  readonly transports: readonly string[];
  /** Whether other devices of the user may have it as well. */
  readonly isSynced: boolean;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly lastUsedAt?: string;
  /** When its counter went back, so that a copy of the authenticator may exist. It is refused since then. */
  readonly copiedAt?: string;
}

/** A user who logs in with a password of the service. */
export interface Account {
  /** In lower case. */
  readonly login: string;
  readonly name: string;
  readonly isAdmin: boolean;
  readonly isDisabled: boolean;
  /** In the format of PHC strings; undefined until the user has set one. */
  readonly password?: string;
  /** The one-time link with which the user sets a password. */
  readonly setup?: { readonly hash: string; readonly expiresAt: string };
  /** The random text by which authenticators know the user, in Base64url; absent before the first passkey. */
  readonly handle?: string;
  /** Absent for accounts that were created before there were passkeys. */
  readonly passkeys?: readonly Passkey[];
  /** SHA-256 of the recovery codes that are left, in hexadecimal digits. */
  readonly recovery: readonly string[];
  /** ISO 8601. */
  readonly createdAt: string;
  readonly changedAt: string;
}

/** The groups of a user at their last login, for what acts for them while they are not present. */
export interface UserGroups {
  /** In the form in which logins are compared. */
  readonly login: string;
  /** As the login provider or the proxy reported them, without repetitions. */
  readonly groups: readonly string[];
  /** When they were reported. ISO 8601. */
  readonly at: string;
}

/** What a user has decided about the login of a program. */
export interface DeviceDecision {
  /** Random, so that a repeated write recognizes itself. */
  readonly id: string;
  readonly isApproved: boolean;
  /** The user, whose rights the program gets. */
  readonly login: string;
  readonly name: string;
  readonly groups?: readonly string[];
}

/** A program that waits until a user lets it act for them. Its device code is known only to the program. */
export interface DeviceLogin {
  /** SHA-256 of the device code, in hexadecimal digits. */
  readonly id: string;
  /** The code that the user types on the page, such as `WDJB-MJHT`. */
  readonly userCode: string;
  /** The name that the program gives its machine, by the rules for the names of instances. */
  readonly machine: string;
  /** The IP address of the program. */
  readonly address: string;
  /** What it wants to do. */
  readonly actions: readonly TokenAction[];
  /** How long its token is to be valid. */
  readonly days: number;
  /** Absent while it waits. */
  readonly decision?: DeviceDecision;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
}

/**
 * Stores objects of the login by a key. A write that has returned is durable. Reads return the writes of this process,
 * and soon afterwards those of other replicas.
 */
export abstract class LoginStore<T> {
  /** @throws DomainError NOT_READY while this process does not reach the store, because the object may have ended */
  abstract get(key: string): T | undefined;
  abstract all(): readonly T[];
  /** Adds or replaces an object. */
  abstract put(object: T): Promise<void>;
  /**
   * Changes an object, unless another request has deleted it.
   * @param change returns undefined to leave it as it is; runs before any other write
   * @returns the object afterwards; undefined if there is none
   */
  abstract change(key: string, change: (stored: T) => T | undefined): Promise<T | undefined>;
  /** @returns whether there was one */
  abstract delete(key: string): Promise<boolean>;

  /** Reads an object, or all, that another replica may have written just now. */
  async reload(_key?: string): Promise<void> {
    // Reads of a store of one process are current.
  }

  /**
   * @param listener called after another replica has written or deleted objects, until the returned function is called
   */
  subscribe(_listener: () => void): () => void {
    return () => undefined;
  }
}

/** Stores the sessions of users by ID. */
export abstract class LoginSessionStore extends LoginStore<LoginSession> {}

/** Stores the programs that wait for their login, by the hash of the device code. */
export abstract class DeviceLoginStore extends LoginStore<DeviceLogin> {}

/** Stores the groups of users by login. */
export abstract class UserGroupsStore extends LoginStore<UserGroups> {}

/** Stores the accounts of the service by login. */
export abstract class AccountStore extends LoginStore<Account> {}
