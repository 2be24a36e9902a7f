import 'reflect-metadata';
import { Type } from 'class-transformer';
import { IsInt, IsString, Min, ValidateNested } from 'class-validator';
import { ConfigError } from './config-error.js';
import { parseSection } from './parse-section.js';

class Inner {
  @IsString() name = 'x';
}

class Limits {
  @IsInt() @Min(1, { message: '$property must be at least 1' }) pushers_per_user = 100;
  @ValidateNested({ each: true }) @Type(() => Inner) inner: Inner[] = [];
}

const problems = (raw: unknown): readonly string[] => {
  let found: readonly string[] = [];
  expect(() => {
    try {
      parseSection(Limits, raw, 'limits', 'limits.toml');
    } catch (error) {
      found = (error as ConfigError).problems;
      throw error;
    }
  }).toThrow(ConfigError);
  return found;
};

describe('parseSection', () => {
  test('fills in the defaults and freezes the whole section', () => {
    const limits = parseSection(Limits, { inner: [{ name: 'y' }] }, 'limits', 'limits.toml');
    expect(limits).toEqual({ pushers_per_user: 100, inner: [{ name: 'y' }] });
    expect(Object.isFrozen(limits)).toBe(true);
    expect(Object.isFrozen(limits.inner[0])).toBe(true);
    expect(parseSection(Limits, undefined, 'limits', 'limits.toml').pushers_per_user).toBe(100);
  });

  test('names the key of a bad value and the valid values', () => {
    expect(problems({ pushers_per_user: 0 })).toEqual(['limits.pushers_per_user must be at least 1']);
    expect(problems({ inner: [{ name: 1 }] })[0]).toContain('limits.inner[0].name');
  });

  test('refuses an unknown key and a section that is not a mapping', () => {
    expect(problems({ pushers: 3 })).toEqual(['limits.pushers is not a known key']);
    expect(problems([])).toEqual(['limits must be a section']);
  });
});
