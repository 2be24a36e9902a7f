/** The base of all errors that this library throws on its own. Errors of the target pass through unchanged. */
export class RepositoryError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The target has no `config` or no keys. */
export class NotARepositoryError extends RepositoryError {}

/** `create` on a target that already has a repository or the rest of one. */
export class RepositoryExistsError extends RepositoryError {}

/** No key of the repository can be opened with the password. A damaged key file has the same effect. */
export class WrongPasswordError extends RepositoryError {}

/** The repository has a format other than version 2. */
export class UnsupportedVersionError extends RepositoryError {}

/** A file or blob that has been changed, cut or invented: its hash, its MAC or its content is wrong. */
export class DamagedError extends RepositoryError {
  constructor(
    message: string,
    /** The damaged file, such as `index/2159…`, or the damaged blob, such as `blob 2159…`. */
    readonly subject: string,
  ) {
    super(message);
  }
}

/** A blob that a snapshot needs is in no index, or the pack that contains it is missing. */
export class MissingBlobError extends DamagedError {}

/** Another process holds a lock that excludes this operation. */
export class LockedError extends RepositoryError {
  constructor(
    message: string,
    readonly holder: { readonly hostname: string; readonly pid: number; readonly exclusive: boolean },
  ) {
    super(message);
  }
}

/** The lock of a running operation could not be renewed in time or has been removed, so the operation has ended. */
export class LostLockError extends RepositoryError {}

/** A snapshot ID that the repository does not have. */
export class SnapshotNotFoundError extends RepositoryError {}

/** A path that the snapshot does not have, or that is not a file. */
export class PathNotFoundError extends RepositoryError {}

/** The operation has been canceled by its `signal`. */
export class CanceledError extends RepositoryError {}

/** An argument of a call is invalid. */
export class InvalidInputError extends RepositoryError {}

/** The target has no such file. */
export class FileNotFoundError extends RepositoryError {}

/** The target already has this file. */
export class FileExistsError extends RepositoryError {}
