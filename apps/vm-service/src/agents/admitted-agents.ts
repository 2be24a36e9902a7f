import { Injectable } from '@nestjs/common';
import { Agents, type Agent } from '@headgate/rehearsals';
import { Admission } from '../identity/admission.js';

/** The agents, with the rights that their tokens and the creators of these have now. */
@Injectable()
export class AdmittedAgents extends Agents {
  constructor(private readonly admission: Admission) {
    super();
  }

  override get(id: string): Agent {
    const { token, leash, caller } = this.admission.ofAgent(id);
    return { token: token.id, name: token.name, leash, caller };
  }
}
