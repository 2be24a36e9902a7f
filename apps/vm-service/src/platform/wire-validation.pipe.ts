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

function refusalOf(errors: readonly ValidationError[]): DomainError {
  const fields = errors.map(({ property, constraints = {} }) => {
    const [[rule, text] = ['', `${property} is not valid`]] = Object.entries(constraints);
    const sentence = rule === 'whitelistValidation' ? `${property} is not a known field` : text;
    return { field: property, rule, message: sentence.endsWith('.') ? sentence : `${sentence}.` };
  });
  const [first] = fields;
  const message = fields.map((field) => field.message).join(' ');
  return new DomainError(CODES[first?.rule ?? ''] ?? 'INVALID_INPUT', message, {
    details: { fields: fields.map(({ field, message: text }) => ({ field, message: text })) },
  });
}
