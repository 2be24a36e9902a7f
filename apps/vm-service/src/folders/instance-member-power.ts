import { Injectable } from '@nestjs/common';
import type { Caller, InstanceRef, PowerAction } from '@headgate/domain-contracts';
import { MemberPower } from '@headgate/folders';
import { InstanceActions } from '@headgate/instances';

/** A member gets the same use case as a single request for it. */
@Injectable()
export class InstanceMemberPower extends MemberPower {
  constructor(private readonly actions: InstanceActions) {
    super();
  }

  override async apply(ref: InstanceRef, action: PowerAction, caller: Caller): Promise<void> {
    await this.actions.apply({ action }, ref, caller);
  }
}
