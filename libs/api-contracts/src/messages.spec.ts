import 'reflect-metadata';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import * as contracts from './index.js';

type DtoClass = new () => Record<string, unknown>;

/** Values that a client sends by mistake, or to find a weak point. */
const ODD_VALUES = [undefined, null, '', ' ', '\u0000', 'Ünï/../x y', 'x'.repeat(5_000), -1, 1.5, true, [], [''], {}];

const REGULAR_EXPRESSION = /regular expression|\/\^|\$\/|\(\?|\[\^|\[[a-z0-9]-|\\[a-zA-Z]/;

const classes = Object.entries(contracts).filter(([, value]) => /^class /.test(String(value))) as [string, DtoClass][];

const messagesOf = (errors: readonly ValidationError[]): string[] =>
  errors.flatMap(({ constraints, children }) => [...Object.values(constraints ?? {}), ...messagesOf(children ?? [])]);

/** The messages for an object whose fields all have the same value. */
function refusalsOf(type: DtoClass, value: unknown): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const fields = new Set(rules.map(({ propertyName }) => propertyName));
  const object = Object.assign(new type(), Object.fromEntries([...fields].map((field) => [field, value])));
  return messagesOf(validateSync(object, { forbidUnknownValues: false }));
}

describe('the messages about fields', () => {
  test('are checked for the classes of all routes', () => {
    expect(classes.length).toBeGreaterThan(100);
    expect(classes.map(([name]) => name)).toEqual(
      expect.arrayContaining(['MoveDto', 'CreateVmDto', 'JournalQueryDto']),
    );
  });

  test.each(classes)('of %s are sentences without a regular expression', (_name, type) => {
    for (const value of ODD_VALUES)
      for (const message of refusalsOf(type, value)) expect(message).not.toMatch(REGULAR_EXPRESSION);
  });
});
