import { Injectable, ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import { DomainError, type ErrorCode } from '@headgate/domain-contracts';
import { fieldProblems, type FieldProblem } from '@headgate/nest-kit';

/** Codes that are more specific than INVALID_INPUT, by the validator that failed. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  isInstanceName: 'INVALID_NAME',
  isMemorySize: 'INVALID_QUANTITY',
  isDiskSize: 'INVALID_QUANTITY',
};

const OPTIONS = { transform: true, whitelist: true, exceptionFactory: refusalOf };

/**
 * Turns paths, queries and bodies into DTOs, or refuses them with every problem. Values are never converted. Unknown fields of
 * a body are refused; unknown parameters of a query are ignored.
 */
@Injectable()
export class WireValidationPipe extends ValidationPipe {
  private readonly parameters = new ValidationPipe(OPTIONS);

  constructor() {
    super({ ...OPTIONS, forbidNonWhitelisted: true });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type !== 'body') return this.parameters.transform(value, metadata) as Promise<unknown>;
    if (value !== undefined && !isRecord(value))
      throw new DomainError('INVALID_INPUT', 'The body must be a JSON object.');
    return super.transform(value, metadata) as Promise<unknown>;
  }
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const WORDS = { unknown: 'is not a known field', notNested: 'must be an object' };

function refusalOf(errors: readonly ValidationError[]): DomainError {
  const problems = [...firstOfEachField(fieldProblems(errors, WORDS))];
  const fields = problems.map(({ field, message }) => ({ field, message: `${message}.` }));
  const text = fields.map(({ message }) => message).join(' ');
  return new DomainError(CODES[problems[0]?.rule ?? ''] ?? 'INVALID_INPUT', text, { details: { fields } });
}

/** A list of rules would only repeat that the field is wrong. */
function firstOfEachField(problems: readonly FieldProblem[]): Iterable<FieldProblem> {
  const first = new Map<string, FieldProblem>();
  for (const problem of problems) if (!first.has(problem.field)) first.set(problem.field, problem);
  return first.values();
}
