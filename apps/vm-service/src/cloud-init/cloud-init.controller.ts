import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { everything } from '@headgate/access';
import { CheckCloudInitDto, CloudInitCheckView } from '@headgate/api-contracts';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { checkCloudInit } from './check-cloud-init.js';

@Controller('api/ext/cloud-init')
export class CloudInitController {
  // Only those who create VMs have a use for it.
  @Needs(everything('create'))
  @Post('check')
  @Describe(
    'Checks cloud-init user data: its YAML, its first line, and the keys at its top. Stores and logs nothing of it.',
    answer(200, CloudInitCheckView),
  )
  @HttpCode(200)
  check(@Body() { userData, networkConfig }: CheckCloudInitDto): CloudInitCheckView {
    return { problems: checkCloudInit(userData, networkConfig) };
  }
}
