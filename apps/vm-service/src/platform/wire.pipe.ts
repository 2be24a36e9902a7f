import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { DomainError, type ErrorCode } from '@headgate/domain-contracts';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';

const PLAIN: readonly unknown[] = [String, Boolean, Number, Array, Object];

/** The code that says more than INVALID_INPUT, by the validator that failed. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  isInstanceName: 'INVALID_NAME',
  isByteQuantity: 'INVALID_QUANTITY',
};

/**
 * Turns what came over the wire into the DTO that the controller asks for, or says what is wrong with it. Nothing is
 * converted by itself; a body may carry no field that the DTO does not know.
 */
@Injectable()
export class WirePipe implements PipeTransform {
  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    if (!metatype || PLAIN.includes(metatype) || type === 'custom') return value;
    const raw = value ?? {};
    if (typeof raw !== 'object' || Array.isArray(raw))
      throw new DomainError('INVALID_INPUT', 'The body must be a JSON object.');
    const dto = plainToInstance(metatype, raw) as object;
    const problems = validateSync(dto, {
      whitelist: true,
      forbidNonWhitelisted: type === 'body',
      forbidUnknownValues: false,
    });
    if (problems.length > 0) throw refusal(problems);
    return dto;
  }
}

function refusal(problems: readonly ValidationError[]): DomainError {
  const fields = problems.map(({ property, constraints = {} }) => {
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
