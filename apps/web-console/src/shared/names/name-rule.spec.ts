import 'reflect-metadata';
import { CreateVmDto, TagDto } from '@headgate/api-contracts';
import { validateSync } from 'class-validator';
import { nameProblem, tagProblem } from './name-rule.js';

const serviceAcceptsName = (name: string): boolean =>
  validateSync(Object.assign(new CreateVmDto(), { name })).length === 0;
const serviceAcceptsTag = (tag: string): boolean =>
  validateSync(Object.assign(new TagDto(), { tag, on: true })).length === 0;

describe('nameProblem', () => {
  test.each([
    'a',
    '1',
    'web-1',
    'web-',
    '0-0',
    'x'.repeat(63),
    '',
    '-a',
    'Web',
    'a_b',
    'a b',
    'a.b',
    'ä',
    'x'.repeat(64),
  ])('judges "%s" as the service does', (name) =>
    expect(nameProblem(name) === undefined).toBe(serviceAcceptsName(name)),
  );

  test('describes the problem', () => {
    expect(nameProblem('My VM')).toBe('Start with a lowercase letter or a digit.');
    expect(nameProblem('my_vm x')).toBe('Use only lowercase letters, digits, and hyphens. Not allowed: _ space');
    expect(nameProblem('x'.repeat(70))).toBe('Use at most 63 characters (now 70).');
  });
});

test('nameProblem checks the rule of the backend too', () => {
  const rule = { pattern: '[a-z]+', maxLength: 5, description: 'consist of letters' };
  expect(nameProblem('web', rule)).toBeUndefined();
  expect(nameProblem('web-1', rule)).toBe('The name must consist of letters.');
  expect(nameProblem('webserver', rule)).toBe('Use at most 5 characters (now 9).');
});

test.each(['prod', 'a', 'A.b_c-d', '-a', 'a-', 'a b', '', 'x'.repeat(59), 'x'.repeat(60)])(
  'tagProblem judges "%s" as the service does',
  (tag) => expect(tagProblem(tag) === undefined).toBe(serviceAcceptsTag(tag)),
);
