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
  @IsInstanceName() name!: string;
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
  @Optional() @IsInstanceName() name?: string;
  @Optional() @IsInstanceName() namespace?: string;
  /** The virtual size. A smaller disk is extended to it, a larger one is refused. Default 20G. */
  @Optional() @IsDiskSize() size?: string;
  /** The length of the whole file. */
  @Optional() @IsByteCount() bytes?: string;
  /** Where in the file the body begins. Default 0. */
  @Optional() @IsByteCount() offset?: string;
  /** Any text that changes with the content of the file, so that parts of two files are never mixed. */
  @Optional() @IsString() @MaxLength(128) version?: string;
  /** Of the whole file. */
  @Optional() @IsChecksum() checksum?: string;
}

/** An element of GET /api/datavolumes. */
export class ImportedImageView {
  @IsString() name!: string;
  @IsString() namespace!: string;
  /** The virtual size. */
  @IsString() size!: string;
  /** `UploadReady` while a file is being uploaded, `ImportInProgress`, `Succeeded`, `Failed`, or another phase of CDI. */
  @IsString() phase!: string;
  /** `42.35%`, or `N/A` when it is unknown. */
  @IsString() progress!: string;
  /** The URL without its query, or `upload`. */
  @IsString() source!: string;
  @IsString() context!: string;
  @IsString() backend!: string;
  /** One sentence about an import that failed or makes no progress. */
  @Optional() @IsString() reason?: string;
  @Optional() @IsISO8601() createdAt?: string;
  /** How many bytes of an upload have been received: the offset of the next part. */
  @Optional() @IsInt() uploadedBytes?: number;
  /** The length of the uploaded file. */
  @Optional() @IsInt() fileBytes?: number;
}

/** The response to a new image, or to a part of its file. */
export class ImageAcceptedView {
  @IsString() name!: string;
  @IsString() namespace!: string;
  @IsString() context!: string;
  /** The task that imports the image; absent while its file is incomplete. */
  @Optional() @IsString() task?: string;
  /** Where the next part of the file begins. */
  @Optional() @IsInt() offset?: number;
}
