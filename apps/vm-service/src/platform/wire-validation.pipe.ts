import { Injectable, ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import { DomainError, type ErrorCode } from '@headgate/domain-contracts';

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

/** Instead of the texts of these rules, which name no path. */
const SENTENCES: Readonly<Record<string, (field: string) => string>> = {
  whitelistValidation: (field) => `${field} is not a known field`,
  nestedValidation: (field) => `${field} must be an object`,
};

interface Problem {
  /** Its path, such as `placement.vcpus[2].cpus`. */
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

function refusalOf(errors: readonly ValidationError[]): DomainError {
  const problems = problemsOf(errors);
  const message = problems.map((problem) => problem.message).join(' ');
  return new DomainError(CODES[problems[0]?.rule ?? ''] ?? 'INVALID_INPUT', message, {
    details: { fields: problems.map(({ field, message: text }) => ({ field, message: text })) },
  });
}

/** The first problem of each field, also of those of nested objects and lists. */
const problemsOf = (errors: readonly ValidationError[], parent = ''): Problem[] =>
  errors.flatMap(({ property, constraints, children = [] }) => {
    const field = pathOf(parent, property);
    if (!constraints && children.length > 0) return problemsOf(children, field);
    const [[rule, text] = ['', `${property} is not valid`]] = Object.entries(constraints ?? {});
    const sentence =
      SENTENCES[rule]?.(field) ?? (text.startsWith(property) ? field + text.slice(property.length) : text);
    return [{ field, rule, message: sentence.endsWith('.') ? sentence : `${sentence}.` }];
  });

function pathOf(parent: string, property: string): string {
  if (parent === '') return property;
  return /^\d+$/.test(property) ? `${parent}[${property}]` : `${parent}.${property}`;
}
