import { IsArray, IsInt, IsISO8601, IsString, MaxLength, Min, MinLength } from 'class-validator';
import { CheckView } from './answers.js';
import { Optional } from './fields.js';

/** An element of GET /api/ext/doctor. */
export class FindingView extends CheckView {
  /** The problem in a few plain words; for a check that passes, its message. */
  @IsString() title!: string;
  /** When the check first failed, in ISO 8601. Absent if it failed already when the service first ran it. */
  @Optional() @IsISO8601() since?: string;
  /** Refs of the first 100 instances that have the problem, where the check knows them. */
  @IsArray() @IsString({ each: true }) affected!: string[];
  /** The number of these instances. */
  @IsInt() @Min(0) affectedCount!: number;
}

/** POST /api/ext/doctor/fix */
export class FixFindingDto {
  /** The context of the check. */
  @IsString() @MinLength(1) @MaxLength(200) context!: string;
  /** The name of the check. */
  @IsString() @MinLength(1) @MaxLength(200) name!: string;
}
