/** The error codes that this project uses; others may come from an upstream and pass through unchanged. */
export type ErrCode =
  | 'M_BAD_JSON'
  | 'M_CANNOT_OVERWRITE_MEDIA'
  | 'M_FORBIDDEN'
  | 'M_INVALID_PARAM'
  | 'M_INVALID_ROOM_STATE'
  | 'M_INVALID_USERNAME'
  | 'M_LIMIT_EXCEEDED'
  | 'M_MISSING_PARAM'
  | 'M_MISSING_TOKEN'
  | 'M_NOT_FOUND'
  | 'M_NOT_JSON'
  | 'M_NOT_YET_UPLOADED'
  | 'M_ROOM_IN_USE'
  | 'M_TOO_LARGE'
  | 'M_UNAUTHORIZED'
  | 'M_UNKNOWN'
  | 'M_UNKNOWN_TOKEN'
  | 'M_UNRECOGNIZED'
  | 'M_UNSUPPORTED_ROOM_VERSION'
  | 'M_USER_DEACTIVATED'
  | 'M_USER_IN_USE';

export interface MatrixErrorBody {
  errcode: string;
  error: string;
  [extra: string]: unknown;
}

export interface MatrixErrorOptions extends ErrorOptions {
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** A standard Matrix error response: an HTTP status and `{errcode, error}` with extra members. */
export class MatrixError extends Error {
  /** Additional members of the body. */
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(
    readonly status: number,
    readonly errcode: ErrCode,
    message: string,
    { extra = {}, ...options }: MatrixErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'MatrixError';
    this.extra = extra;
  }

  body(): MatrixErrorBody {
    return { errcode: this.errcode, error: this.message, ...this.extra };
  }

  static badJson(message: string): MatrixError {
    return new MatrixError(400, 'M_BAD_JSON', message);
  }

  static notJson(message = 'The body is not valid JSON.'): MatrixError {
    return new MatrixError(400, 'M_NOT_JSON', message);
  }

  static invalidParam(message: string): MatrixError {
    return new MatrixError(400, 'M_INVALID_PARAM', message);
  }

  static missingParam(name: string): MatrixError {
    return new MatrixError(400, 'M_MISSING_PARAM', `${name} is missing.`);
  }

  static forbidden(message: string): MatrixError {
    return new MatrixError(403, 'M_FORBIDDEN', message);
  }

  static notFound(message: string): MatrixError {
    return new MatrixError(404, 'M_NOT_FOUND', message);
  }

  /** The endpoint does not exist. */
  static unrecognized(): MatrixError {
    return new MatrixError(404, 'M_UNRECOGNIZED', 'Unrecognized request.');
  }

  /** The endpoint exists, but not with this method. */
  static wrongMethod(): MatrixError {
    return new MatrixError(405, 'M_UNRECOGNIZED', 'This endpoint does not support this method.');
  }

  static missingToken(): MatrixError {
    return new MatrixError(401, 'M_MISSING_TOKEN', 'This endpoint requires an access token.');
  }

  static unknownToken(): MatrixError {
    return new MatrixError(401, 'M_UNKNOWN_TOKEN', 'The access token is unknown or has expired.');
  }

  static tooLarge(message: string): MatrixError {
    return new MatrixError(413, 'M_TOO_LARGE', message);
  }
}
