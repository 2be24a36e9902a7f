import { Injectable } from '@nestjs/common';
import { ApiTokens } from '@headgate/access';
import { Agents, type Agent } from '@headgate/rehearsals';
import { Admission } from '../identity/admission.js';

/** The agents, with the rights that their tokens and the creators of these have now. */
@Injectable()
export class AdmittedAgents extends Agents {
  constructor(
    private readonly admission: Admission,
    private readonly tokens: ApiTokens,
  ) {
    super();
  }

  override get(id: string): Agent {
    const { token, leash, caller } = this.admission.ofAgent(id);
    return { token: token.id, name: token.name, leash, caller };
  }

  override follow(token: string, changed: () => void): () => void {
    let isReleased = false;
    const release = this.tokens.closeWith(token, () =>
      // A token that was only changed is followed again, which needs the connections of before to be forgotten.
      queueMicrotask(() => {
        if (isReleased) return;
        stop();
        changed();
      }),
    );
    const stop = (): void => {
      isReleased = true;
      release();
    };
    return stop;
  }
}
