import { IsISO8601, IsInt, IsString, MaxLength } from 'class-validator';
import {
  IsByteCount,
  IsChecksum,
  IsContextName,
  IsDiskSize,
  IsDownloadUrl,
  IsInstanceName,
  Optional,
} from './fields.js';
import { ChangeQuery } from './queries.js';

/** POST /api/datavolumes with a JSON body. */
export class ImportImageDto {
  /** The name of the new image, unique in its namespace. */
  @IsInstanceName() name!: string;
  /** The namespace of the new image. Default: that of the context. */
  @Optional() @IsInstanceName() namespace?: string;
  /** The context of the new image; the first configured one by default. */
  @Optional() @IsContextName() context?: string;
  /** A disk in the format qcow2, raw, vmdk or vhdx, also compressed with gzip, xz or zstd. */
  @IsDownloadUrl() url!: string;
  /** The virtual size. A smaller disk is extended to it, a larger one is refused. Default 20G. */
  @Optional() @IsDiskSize() size?: string;
  /** Of the downloaded file. */
  @Optional() @IsChecksum() checksum?: string;
}

/** The query of POST /api/datavolumes. All but `dryRun` is for a body that is a part of a file. */
export class UploadQuery extends ChangeQuery {
  /** The name of the new image, unique in its namespace. */
  @Optional() @IsInstanceName() name?: string;
  /** The namespace of the new image. Default: that of the context. */
  @Optional() @IsInstanceName() namespace?: string;
  /** The virtual size. A smaller disk is extended to it, a larger one is refused. Default 20G. */
  @Optional() @IsDiskSize() size?: string;
  /** The length of the whole file in bytes. */
  @Optional() @IsByteCount() bytes?: string;
  /** Where in the file the body begins, in bytes. Default 0. */
  @Optional() @IsByteCount() offset?: string;
  /** Any text that changes with the content of the file, so that parts of two files are never mixed. */
  @Optional() @IsString() @MaxLength(128) version?: string;
  /** Of the whole file. */
  @Optional() @IsChecksum() checksum?: string;
}

/** An element of GET /api/datavolumes. */
export class ImportedImageView {
  /** The name of the image, as the field `image` of a new VM takes it. */
  @IsString() name!: string;
  /** The namespace of the image. */
  @IsString() namespace!: string;
  /** The virtual size. */
  @IsString() size!: string;
  /**
   * `UploadReady` while a file is being uploaded, `ImportInProgress`, `Succeeded`, `Failed`, or another phase of CDI.
   */
  @IsString() phase!: string;
  /** `42.35%`, or `N/A` when it is unknown. */
  @IsString() progress!: string;
  /** The URL without its query, or `upload`. */
  @IsString() source!: string;
  /** The context that has it. */
  @IsString() context!: string;
  /** The kind of the backend. */
  @IsString() backend!: string;
  /** One sentence about an import that failed or makes no progress. */
  @Optional() @IsString() reason?: string;
  /** When it was created, in ISO 8601. */
  @Optional() @IsISO8601() createdAt?: string;
  /** How many bytes of an upload have been received: the offset of the next part. */
  @Optional() @IsInt() uploadedBytes?: number;
  /** The length of the uploaded file in bytes. */
  @Optional() @IsInt() fileBytes?: number;
}

/** The response to a new image, or to a part of its file. */
export class ImageAcceptedView {
  /** The name of the image. */
  @IsString() name!: string;
  /** The namespace of the image. */
  @IsString() namespace!: string;
  /** The context that has it. */
  @IsString() context!: string;
  /** The task that imports the image; absent while its file is incomplete. */
  @Optional() @IsString() task?: string;
  /** Where the next part of the file begins, in bytes. */
  @Optional() @IsInt() offset?: number;
}
