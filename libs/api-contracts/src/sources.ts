import { SOURCE_KINDS, type SourceKind } from '@headgate/domain-contracts';
import { IsIn, IsNotEmpty, IsString, MaxLength } from 'class-validator';
import { IsInstanceName, Optional } from './fields.js';

/** POST /api/sources. Adding an existing name replaces it. */
export class CustomSourceDto {
  /** The name of the source, which the field `image` of a new VM takes. An existing one is replaced. */
  @IsInstanceName() name!: string;
  /** `containerDisk`: an image in a registry. `url`: a qcow2 or raw disk to import. `iso`: an installation medium. */
  @IsIn(SOURCE_KINDS) kind!: SourceKind;
  /** An image reference for `containerDisk`, otherwise an http(s) URL without credentials. */
  @IsString() @IsNotEmpty() @MaxLength(2048) uri!: string;
  /** One sentence about the source. */
  @Optional() @IsString() @MaxLength(512) description?: string;
}

/** `{name}` of a path. */
export class SourcePath {
  /** The name of a custom source. */
  @IsInstanceName() name!: string;
}

/** The response to POST /api/sources. */
export class SourceAddedView {
  /** `ok`. */
  @IsString() status!: string;
  /** The name of the source. */
  @IsString() name!: string;
}
