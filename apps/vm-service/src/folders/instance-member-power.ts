import { Injectable } from '@nestjs/common';
import type { Caller, InstanceRef, PowerAction } from '@headgate/domain-contracts';
import { MemberPower } from '@headgate/folders';
import { ApplyContainerPower, ApplyPower, CONTAINER_ACTIONS } from '@headgate/instances';
import { expectAction } from '../instances/instance-request.js';

/** A member gets the same use case as a single request for it. */
@Injectable()
export class InstanceMemberPower extends MemberPower {
  constructor(
    private readonly applyPower: ApplyPower,
    private readonly applyContainerPower: ApplyContainerPower,
  ) {
    super();
  }

  override async apply(ref: InstanceRef, action: PowerAction, caller: Caller): Promise<void> {
    if (ref.kind === 'vm') return this.applyPower.run(ref, action, {}, caller);
    return this.applyContainerPower.run(ref, expectAction(action, CONTAINER_ACTIONS), caller);
  }
}
