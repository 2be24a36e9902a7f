import { OwnedStore, type OwnedObject } from './owned-store.port.js';

/** A repository of backups that an administrator has added. */
export interface BackupTarget extends OwnedObject {
  /** Empty: targets belong to the service. */
  readonly owner: '';
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** Unique. */
  readonly name: string;
  readonly kind: 'directory';
  /** The absolute path of the repository. */
  readonly path: string;
  /** Opens the repository. A secret: never in answers, logs, journals and arguments of programs. */
  readonly password: string;
  /** The login of its creator. */
  readonly creator: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** Stores the targets of backups with their passwords. */
export abstract class BackupTargetStore extends OwnedStore<BackupTarget> {
  /** By name. */
  abstract all(): readonly BackupTarget[];
}

/** The order of `BackupTargetStore.all`. */
export const byTargetName = (a: BackupTarget, b: BackupTarget): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
