import { ArrayMaxSize, IsArray, IsInt, IsISO8601, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { Nullable, Optional } from './fields.js';
import { IsGivenName } from './given-name.js';

const MAX_ADDRESS_CHARS = 4000;
const MAX_COLUMNS = 50;
const MAX_COLUMN_CHARS = 64;
const MAX_POSITION = 1000;
/** A path of the page, which leads to no other site. */
const ADDRESS = /^\/(?!\/)[^\s\\]*$/u;
/** POST /api/ext/views */
export class SaveViewDto {
  /** Unique among the views of the caller. */
  @IsGivenName()
  name!: string;
  /** The path of a list of the page with its query, such as `/vms?q=status:running&sort=-name`. */
  @IsString()
  @MaxLength(MAX_ADDRESS_CHARS)
  @Matches(ADDRESS, { message: '$property must be a path of the page, such as /vms?q=status:running.' })
  address!: string;
  /** The columns of the list; null for as many as fit, which is the default. */
  @Optional()
  @Nullable()
  @IsArray()
  @ArrayMaxSize(MAX_COLUMNS)
  @IsString({ each: true })
  @MaxLength(MAX_COLUMN_CHARS, { each: true })
  columns?: string[] | null;
}

/** PATCH /api/ext/views/{id}. Absent fields stay as they are. */
export class UpdateViewDto {
  /** Unique among the views of the caller. */
  @Optional()
  @IsGivenName()
  name?: string;
  /** The path of a list of the page with its query. */
  @Optional()
  @IsString()
  @MaxLength(MAX_ADDRESS_CHARS)
  @Matches(ADDRESS, { message: '$property must be a path of the page, such as /vms?q=status:running.' })
  address?: string;
  /** The columns of the list; null for as many as fit. */
  @Optional()
  @Nullable()
  @IsArray()
  @ArrayMaxSize(MAX_COLUMNS)
  @IsString({ each: true })
  @MaxLength(MAX_COLUMN_CHARS, { each: true })
  columns?: string[] | null;
  /** The number of views that are before it; it is the last one if there are fewer. */
  @Optional() @IsInt() @Min(0) @Max(MAX_POSITION) position?: number;
}

/** The path of a saved view. */
export class ViewPath {
  /** Its ID. */
  @Matches(/^[0-9a-f-]{36}$/, { message: '$property must be the ID of a saved view.' }) id!: string;
}

/** A view that the caller has saved. */
export class SavedViewView {
  /** Its ID. */
  @IsString() id!: string;
  /** The caller's name for it. */
  @IsString() name!: string;
  /** The path of a list of the page with its query. */
  @IsString() address!: string;
  /** The columns of the list; null for as many as fit. */
  @Nullable() @IsArray() @IsString({ each: true }) columns!: string[] | null;
  /** When it was saved or changed last, in ISO 8601. */
  @IsISO8601() savedAt!: string;
}
