import { IsString, Matches, MaxLength } from 'class-validator';

const MAX_NAME_CHARS = 60;
const MESSAGE = '$property must begin and end with a character other than a space.';

/** The name that a user gives an object: at most 60 characters. */
const givenName = (pattern: RegExp) => (): PropertyDecorator => (target, property) => {
  const rules = [IsString(), MaxLength(MAX_NAME_CHARS), Matches(pattern, { message: MESSAGE })];
  // The order in which decorators of a property are applied.
  for (const rule of rules.reverse()) rule(target, property);
};

/** A name without control characters. */
export const IsGivenName = givenName(/^(?!\s)[^\p{Cc}]+(?<!\s)$/u);

/** A name without control and format characters, since it is in the subjects of mail. */
export const IsVisibleName = givenName(/^(?!\s)[^\p{Cc}\p{Cf}]+(?<!\s)$/u);
