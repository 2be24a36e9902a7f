import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { anyVisitor, ownObjects, type CreatedToken } from '@headgate/access';
import {
  BeginDeviceLoginDto,
  BegunDeviceLoginView,
  DEFAULT_DEVICE_DAYS,
  DevicePollView,
  DeviceRequestView,
  PollDeviceLoginDto,
  StatusView,
  UserCodeDto,
} from '@headgate/api-contracts';
import { TOKEN_ACTIONS, type Caller, type DeviceLogin } from '@headgate/domain-contracts';
import { DEVICE_LOGIN_SECONDS, DeviceLogins } from '@headgate/login';
import type { FastifyRequest } from 'fastify';
import { answer, Describe } from '../platform/answers.decorator.js';
import { CurrentCaller } from '../platform/caller.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { DeviceRequests } from './device-requests.js';

/** The page on which the user types the code. No address contains a code, so that a link is not enough. */
const PAGE = '/#/device';

/** Programs ask for a token, and users let them act for them. */
@Controller('api/ext/login/device')
export class DeviceLoginController {
  constructor(
    private readonly requests: DeviceRequests,
    private readonly logins: DeviceLogins<CreatedToken>,
  ) {}

  @Needs(anyVisitor)
  @Post()
  @HttpCode(200)
  @Describe('Begins the login of a program, which a user approves on the page.', answer(200, BegunDeviceLoginView))
  async begin(
    @Body() { machine, actions = [...TOKEN_ACTIONS], days = DEFAULT_DEVICE_DAYS }: BeginDeviceLoginDto,
    @Req() request: FastifyRequest,
  ): Promise<BegunDeviceLoginView> {
    this.requests.expectPossible(request);
    const address = this.requests.addressOf(request);
    const { login, deviceCode } = await this.logins.begin({ machine, actions, days }, address);
    return {
      deviceCode,
      userCode: login.userCode,
      page: PAGE,
      expiresInSeconds: DEVICE_LOGIN_SECONDS,
      intervalSeconds: this.logins.seconds,
    };
  }

  @Needs(anyVisitor)
  @Post('token')
  @HttpCode(200)
  @Describe('Returns the API token of a program that a user has approved, once.', answer(200, DevicePollView))
  async poll(@Body() { deviceCode }: PollDeviceLoginDto, @Req() request: FastifyRequest): Promise<DevicePollView> {
    this.requests.expectPossible(request);
    const poll = await this.logins.poll(deviceCode, this.requests.addressOf(request));
    if (poll.status === 'approved') {
      const { token, text } = poll.issued;
      return { status: poll.status, token: text, name: token.name, expiresAt: token.expiresAt };
    }
    return { status: poll.status, ...('seconds' in poll && { intervalSeconds: poll.seconds }) };
  }

  @Needs(ownObjects)
  @Post('request')
  @HttpCode(200)
  @Describe('The program that waits with a code, for its user to compare.', answer(200, DeviceRequestView))
  find(
    @Body() { userCode }: UserCodeDto,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
  ): DeviceRequestView {
    this.requests.expectPossible(request);
    return present(this.logins.find(userCode, caller), this.requests.addressOf(request));
  }

  @Needs(ownObjects)
  @Post('approve')
  @HttpCode(200)
  @Describe('Lets a program act for the caller, with at most their rights.', answer(200, StatusView))
  async approve(
    @Body() { userCode }: UserCodeDto,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<StatusView> {
    this.requests.expectPossible(request);
    await this.logins.approve(userCode, caller);
    return { status: 'approved' };
  }

  @Needs(ownObjects)
  @Post('deny')
  @HttpCode(200)
  @Describe('Refuses a program that waits.', answer(200, StatusView))
  async deny(
    @Body() { userCode }: UserCodeDto,
    @CurrentCaller() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<StatusView> {
    this.requests.expectPossible(request);
    await this.logins.deny(userCode, caller);
    return { status: 'denied' };
  }
}

const present = (
  { machine, address, actions, days, createdAt, expiresAt }: DeviceLogin,
  ownAddress: string,
): DeviceRequestView => ({ machine, address, ownAddress, actions: [...actions], days, createdAt, expiresAt });
