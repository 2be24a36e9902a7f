import { badRequest, type ApiError, type StatusCause } from './api-error.js';
import { labelValueCauses, qualifiedNameCauses } from './schema/validate-meta.js';

export type Operator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';

export interface Requirement {
  key: string;
  operator: Operator;
  values: string[];
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  in: 'In',
  notin: 'NotIn',
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '>': 'Gt',
  '<': 'Lt',
};

/** The tokens of a selector; a word may also be the operator `in` or `notin`. Symbols bind as far as they can. */
const TOKEN = /\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+)/y;

/**
 * Parses the text of a label selector, with the messages of the real parser: it names the token that it found and the
 * tokens that it expected.
 */
export class LabelSelectorParser {
  private readonly tokens: string[] = [];
  private position = 0;

  constructor(text: string) {
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) this.tokens.push(match[1]!);
  }

  /** @throws ApiError 400 */
  parse(): Requirement[] {
    const requirements: Requirement[] = [];
    if (this.next() === '') return requirements;
    if (!isWord(this.next()) && this.next() !== '!') throw this.found("!, identifier, or 'end of string'");
    for (;;) {
      requirements.push(this.requirement());
      const separator = this.take();
      if (separator === '') return requirements;
      if (separator !== ',') throw badRequest(`found '${separator}', expected: ',' or 'end of string'`);
      if (!isWord(this.next()) && this.next() !== '!') throw this.found("identifier after ','");
    }
  }

  private requirement(): Requirement {
    const isNegated = this.next() === '!';
    if (isNegated) this.take();
    const key = this.take();
    if (!isWord(key)) throw unparsable(`found '${key}', expected: identifier`);
    refuse(qualifiedNameCauses('<nil>', key));
    // The real parser ignores an operator after `!key`, but not what follows it.
    if (this.next() === '' || this.next() === ',')
      return { key, operator: isNegated ? 'DoesNotExist' : 'Exists', values: [] };
    if (isNegated) return { key, operator: 'DoesNotExist', values: [] };
    const token = this.take();
    const operator = Object.hasOwn(OPERATORS, token) ? OPERATORS[token] : undefined;
    if (!operator) throw unparsable(`found '${token}', expected: in, notin, =, ==, !=, gt, lt`);
    const values = token === 'in' || token === 'notin' ? this.list() : [this.value()];
    return checked({ key, operator, values });
  }

  private value(): string {
    if (this.next() === '' || this.next() === ',') return '';
    const value = this.take();
    if (!isWord(value)) throw unparsable(`found '${value}', expected: identifier`);
    return value;
  }

  /** `(a, b)`; values may be empty. */
  private list(): string[] {
    const opening = this.take();
    if (opening !== '(') throw unparsable(`found '${opening}' expected: '('`);
    const values: string[] = [];
    for (;;) {
      const value = isWord(this.next()) ? this.take() : '';
      values.push(value);
      const separator = this.take();
      if (separator === ')') return [...new Set(values)].sort();
      if (separator === ',') continue;
      throw unparsable(`found '${separator}', expected: ${value ? "',' or ')'" : "',', ')' or identifier"}`);
    }
  }

  private next(): string {
    return this.tokens[this.position] ?? '';
  }

  private take(): string {
    const token = this.next();
    this.position++;
    return token;
  }

  private found(expected: string): ApiError {
    return badRequest(`found '${this.next()}', expected: ${expected}`);
  }
}

const isWord = (token: string): boolean => /^[^\s=!(),<>]/.test(token);
const unparsable = (why: string): ApiError => badRequest(`unable to parse requirement: ${why}`);

function refuse([cause]: StatusCause[]): void {
  if (cause) throw unparsable(`${cause.field}: ${cause.message}`);
}

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  for (const [index, value] of values.entries()) {
    if ((operator === 'Gt' || operator === 'Lt') && !/^[-+]?\d+$/.test(value)) {
      const why = "for 'Gt', 'Lt' operators, the value must be an integer";
      throw unparsable(`values[${index}]: Invalid value: ${JSON.stringify(value)}: ${why}`);
    }
    refuse(labelValueCauses(`values[${index}][${key}]`, value));
  }
  return requirement;
}
