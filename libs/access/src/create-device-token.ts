import { DomainError, MAX_NAME_LENGTH, type Caller } from '@headgate/domain-contracts';
import type { CreatedToken, CreateToken, CreateTokenRequest } from './create-token.js';

const MAX_ATTEMPTS = 8;

/** Creates the API token of a program that a user has let in, under the name of its machine or the next free one. */
export class CreateDeviceToken {
  constructor(private readonly createToken: CreateToken) {}

  /** @throws DomainError CONFLICT if the user can't have another one */
  async run(
    { name: machine, ...request }: Pick<CreateTokenRequest, 'name' | 'actions' | 'days'>,
    caller: Caller,
  ): Promise<CreatedToken> {
    for (let attempt = 1; ; attempt++) {
      const name = this.freeName(machine);
      try {
        return await this.createToken.run({ ...request, name, scope: {}, isOfDevice: true }, caller);
      } catch (error) {
        // Another request has just taken the name.
        if (!DomainError.is(error, 'ALREADY_EXISTS') || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  private freeName(machine: string): string {
    for (let number = 1; ; number++) {
      const suffix = number === 1 ? '' : `-${number}`;
      const name = `${machine.slice(0, MAX_NAME_LENGTH - suffix.length)}${suffix}`;
      if (!this.createToken.isTaken(name)) return name;
    }
  }
}
