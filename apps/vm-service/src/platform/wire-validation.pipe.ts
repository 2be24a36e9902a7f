import { Injectable, ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import { patchableFields } from '@headgate/api-contracts';
import { DomainError, type ErrorCode } from '@headgate/domain-contracts';
import { fieldPath, fieldProblems, type FieldProblem } from '@headgate/nest-kit';

/** Codes that are more specific than INVALID_INPUT, by the validator that failed. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  isInstanceName: 'INVALID_NAME',
  isJournalRef: 'INVALID_REF',
  isMemorySize: 'INVALID_QUANTITY',
  isDiskSize: 'INVALID_QUANTITY',
};

const OPTIONS = {
  transform: true,
  whitelist: true,
  exceptionFactory: (errors: readonly ValidationError[]) => refusalOf(fieldProblems(errors, WORDS)),
};

/**
 * Turns paths, queries and bodies into DTOs, or refuses them with every problem. Values are never converted. Unknown
 * fields of a body are refused; unknown parameters of a query are ignored.
 */
@Injectable()
export class WireValidationPipe extends ValidationPipe {
  private readonly parameters = new ValidationPipe(OPTIONS);
  /** The DTOs of queries without any required parameter: most requests have no query, so its validation is skipped. */
  private readonly optional = new Set<new () => unknown>();

  constructor() {
    super({ ...OPTIONS, forbidNonWhitelisted: true });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'query') return this.query(value, metadata);
    if (metadata.type !== 'body') return this.parameters.transform(value, metadata) as Promise<unknown>;
    if (value !== undefined && !isRecord(value))
      throw new DomainError('INVALID_INPUT', 'The body must be a JSON object.');
    try {
      const inherited = [...inheritedFields(value)];
      if (inherited.length > 0) throw refusalOf(inherited);
      return (await super.transform(value, metadata)) as unknown;
    } catch (error) {
      throw withPatchableFields(error, metadata.metatype);
    }
  }

  private async query(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const type = metadata.metatype as (new () => unknown) | undefined;
    const isEmpty = isRecord(value) && Object.keys(value as object).length === 0;
    if (isEmpty && type && this.optional.has(type)) return new type();
    const dto: unknown = await this.parameters.transform(value, metadata);
    if (isEmpty && type && dto instanceof type) this.optional.add(type);
    return dto;
  }
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const WORDS = { unknown: 'is not a known field', notNested: 'must be an object' };

/**
 * Fields with the name of a property that every object has, such as `toString`, at all levels. The transformation would
 * drop them, so that they would pass as if they were not there.
 */
function* inheritedFields(value: unknown, parent = ''): Iterable<FieldProblem> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    const field = fieldPath(parent, name);
    if (name in Object.prototype) yield { field, rule: 'whitelistValidation', message: `${field} ${WORDS.unknown}` };
    else yield* inheritedFields(inner, field);
  }
}

function refusalOf(all: readonly FieldProblem[]): DomainError {
  const problems = [...lastOfEachField(all)];
  const fields = problems.map(({ field, message }) => ({ field, message: `${message}.` }));
  const text = fields.map(({ message }) => message).join(' ');
  return new DomainError(CODES[problems[0]?.rule ?? ''] ?? 'INVALID_INPUT', text, { details: { fields } });
}

/** The refusal of a patch with the fields that one accepts, if it has others. */
function withPatchableFields(error: unknown, type: unknown): unknown {
  const fields = patchableFields(type);
  if (!fields || !DomainError.is(error) || !error.message.includes(WORDS.unknown)) return error;
  const { code, message, details } = error;
  return new DomainError(code, `${message} A patch of it accepts ${fields.join(', ')}.`, { details });
}

/**
 * The first decorator of a field, which is applied last, says its type. The bounds that follow it have no meaning for a
 * value of another type, and would only repeat that the field is wrong.
 */
function lastOfEachField(problems: readonly FieldProblem[]): Iterable<FieldProblem> {
  return new Map(problems.map((problem) => [problem.field, problem])).values();
}
