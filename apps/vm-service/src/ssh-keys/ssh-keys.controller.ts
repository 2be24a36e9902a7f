import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { everything } from '@headgate/access';
import {
  AddSshKeyDto,
  ChangeQuery,
  EmptyBody,
  SshKeyPath,
  SshKeyView,
  StatusView,
  type PlanView,
} from '@headgate/api-contracts';
import { SshKeyStore, type Caller, type SshKey } from '@headgate/domain-contracts';
import { AddSshKey, parseSshKey, RemoveSshKey } from '@headgate/instances';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Changing, ChangeRequest } from '../platform/change-request.js';
import { Needs } from '../platform/needs.decorator.js';

/** Only those who create VMs have a use for keys. Each of them sees and changes their own. */
const creators = everything('create');

@Controller('api/ext/ssh-keys')
export class SshKeysController {
  constructor(
    private readonly store: SshKeyStore,
    private readonly addKey: AddSshKey,
    private readonly removeKey: RemoveSshKey,
  ) {}

  @Needs(creators)
  @Get()
  @Describe('The SSH public keys of the caller.', answerList(200, SshKeyView))
  list(@CurrentCaller() { login }: Caller): SshKeyView[] {
    return this.store.of(login).map(present);
  }

  @Needs(creators)
  @Post()
  @Describe('Stores a public key for the caller. Private keys are refused.', answer(201, SshKeyView))
  add(
    @Body() { key, name }: AddSshKeyDto,
    @CurrentCaller() { login }: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<SshKeyView | PlanView> {
    return request.answer(query, this.addKey, [{ owner: login, key, ...(name !== undefined && { name }) }], present);
  }

  @Needs(creators)
  @Delete(':id')
  @Describe('Removes a public key of the caller. VMs that were created with it keep it.', answer(200, StatusView))
  remove(
    @Param() { id }: SshKeyPath,
    @Body() _body: EmptyBody,
    @CurrentCaller() { login }: Caller,
    @Query() query: ChangeQuery,
    @Changing() request: ChangeRequest,
  ): Promise<StatusView | PlanView> {
    return request.answer(query, this.removeKey, [login, id], () => ({ status: 'removed' }));
  }
}

function present({ name, key, addedAt }: SshKey): SshKeyView {
  const { id, type, fingerprint } = parseSshKey(key);
  return { id, name, type, fingerprint, key, addedAt };
}
