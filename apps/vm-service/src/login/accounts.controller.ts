import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import { everything, KnownGroups } from '@headgate/access';
import {
  AccountPath,
  AccountView,
  AccountWithSecretView,
  ChangeAccountDto,
  CreateAccountDto,
  EmptyBody,
  StatusView,
} from '@headgate/api-contracts';
import type { Account, Caller } from '@headgate/domain-contracts';
import { Accounts } from '@headgate/login';
import type { FastifyRequest } from 'fastify';
import { answer, answerList, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { LoginRequests } from './login-requests.js';

@Controller('api/ext/accounts')
export class AccountsController {
  constructor(
    private readonly accounts: Accounts,
    private readonly requests: LoginRequests,
    private readonly groups: KnownGroups,
  ) {}

  @Needs(everything('manage', { doing: 'Reading the accounts' }))
  @Get()
  @Describe('The accounts of the service, without their passwords.', answerList(200, AccountView))
  list(): AccountView[] {
    return this.accounts.all().map(present);
  }

  @Needs(everything('manage'))
  @Post()
  @Describe('Creates an account. Its user sets the password with the secret.', answer(201, AccountWithSecretView))
  async create(
    @Body() { login, name = '', admin = false }: CreateAccountDto,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<AccountWithSecretView> {
    this.requests.expectLocal(request);
    const { account, secret } = await this.accounts.create({ login, name, isAdmin: admin }, caller);
    return { ...present(account), secret };
  }

  @Needs(everything('manage'))
  @Patch(':login')
  @Describe('Changes the name or the rights of an account, or disables it.', answer(200, AccountView))
  async change(
    @Param() { login }: AccountPath,
    @Body() { name, admin, disabled }: ChangeAccountDto,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<AccountView> {
    this.requests.expectLocal(request);
    const change = {
      ...(name !== undefined && { name }),
      ...(admin !== undefined && { isAdmin: admin }),
      ...(disabled !== undefined && { isDisabled: disabled }),
    };
    const account = await this.accounts.update(login, change, caller);
    if (account.isDisabled) await this.groups.forget(account.login);
    return present(account);
  }

  @Needs(everything('manage'))
  @Post(':login/reset')
  @HttpCode(200)
  @Describe('Removes the password of an account and ends its sessions.', answer(200, AccountWithSecretView))
  async reset(
    @Param() { login }: AccountPath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<AccountWithSecretView> {
    this.requests.expectLocal(request);
    const { account, secret } = await this.accounts.reset(login, caller);
    return { ...present(account), secret };
  }

  @Needs(everything('manage'))
  @Delete(':login')
  @Describe('Deletes an account, ends its sessions and revokes its API tokens.', answer(200, StatusView))
  async delete(
    @Param() { login }: AccountPath,
    @Body() _body: EmptyBody,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<StatusView> {
    this.requests.expectLocal(request);
    await this.accounts.delete(login, caller);
    return { status: 'deleted' };
  }
}

const present = ({ login, name, isAdmin, isDisabled, password, recovery, createdAt }: Account): AccountView => ({
  login,
  name,
  admin: isAdmin,
  disabled: isDisabled,
  ready: password !== undefined,
  recoveryCodes: recovery.length,
  createdAt,
});
