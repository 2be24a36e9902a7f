import 'reflect-metadata';
import { CreateVmDto, TagDto } from '@headgate/api-contracts';
import { validateSync } from 'class-validator';
import { nameProblem, tagProblem } from './name-rule.js';

const serviceTakesName = (name: string): boolean =>
  validateSync(Object.assign(new CreateVmDto(), { name })).length === 0;
const serviceTakesTag = (tag: string): boolean =>
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
  ])('judges «%s» as the service does', (name) => expect(nameProblem(name) === undefined).toBe(serviceTakesName(name)));

  test('names what is wrong', () => {
    expect(nameProblem('My VM')).toBe('The first character must be a-z or 0-9.');
    expect(nameProblem('my_vm x')).toBe('Only a-z, 0-9 and "-"; not _ a space.');
    expect(nameProblem('x'.repeat(70))).toBe('At most 63 characters; this has 70.');
  });
});

test.each(['prod', 'a', 'A.b_c-d', '-a', 'a-', 'a b', '', 'x'.repeat(59), 'x'.repeat(60)])(
  'tagProblem judges «%s» as the service does',
  (tag) => expect(tagProblem(tag) === undefined).toBe(serviceTakesTag(tag)),
);
