import { isContextName } from '@headgate/domain-contracts';
import { Allow, IsNotEmpty, IsString, ValidateBy } from 'class-validator';

const IsContextNameKey = (): PropertyDecorator =>
  ValidateBy({
    name: 'isContextName',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && isContextName(value),
      defaultMessage: (args) => `${args?.property} must be a name of letters, digits and . _ @ : / -`,
    },
  });

/** One backend. */
export class ContextSection {
  /** The operator's name for it. */
  @IsContextNameKey() name!: string;
  /** A key of BACKEND_KINDS, which is checked when the contexts are opened. */
  @IsString() @IsNotEmpty() kind!: string;
  /** The other keys of the section, parsed by the class of its kind. Default: the defaults of that class. */
  @Allow() settings?: Readonly<object>;
}
