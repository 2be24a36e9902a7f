import { INSTANCE_KINDS, type InstanceKind } from '@headgate/domain-contracts';
import { IsIn, IsInt, IsString, MaxLength, Min } from 'class-validator';
import { IsFolderPath, Nested, Optional } from './fields.js';
import { ContextQuery, MAX_QUERY_CHARS } from './queries.js';

/** The query of GET /api/ext/facets. */
export class FacetsQuery extends ContextQuery {
  /** `vm` by default. */
  @Optional() @IsIn(INSTANCE_KINDS) kind?: InstanceKind;
  /** A query as in the list, such as `web status:running`. */
  @Optional() @IsString() @MaxLength(MAX_QUERY_CHARS) q?: string;
  /** Only the instances in this folder and in the folders in it. */
  @Optional() @IsFolderPath() folder?: string;
}

/** A value of a field, and how often it occurs. */
export class FacetCountView {
  /** The value as the list shows it. */
  @IsString() value!: string;
  /** The number of instances with this value, at least 1. */
  @IsInt() @Min(1) count!: number;
}

/**
 * GET /api/ext/facets. The most frequent value is first. Terms of the query that choose a status, context, folder or
 * node do not limit the counts of the same field, so that these are the numbers that another choice would find.
 */
export class FacetsView {
  /** The number of instances that match the whole query. */
  @IsInt() @Min(0) matched!: number;
  /** By status; by phase for containers. */
  @Nested(() => FacetCountView, { each: true }) status!: FacetCountView[];
  /** By context. */
  @Nested(() => FacetCountView, { each: true }) context!: FacetCountView[];
  /** By the folder that instances are in, without those in no folder. */
  @Nested(() => FacetCountView, { each: true }) folder!: FacetCountView[];
  /** By tag; an instance counts for each of its tags. */
  @Nested(() => FacetCountView, { each: true }) tag!: FacetCountView[];
  /** By node, without those on no node. */
  @Nested(() => FacetCountView, { each: true }) node!: FacetCountView[];
}
