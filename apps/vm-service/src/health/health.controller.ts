import { Controller, Get, Header } from '@nestjs/common';
import { anyone } from '@headgate/access';
import { ReadyView } from '@headgate/api-contracts';
import { DomainError } from '@headgate/domain-contracts';

import { Needs } from '../platform/needs.decorator.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Readiness } from '../platform/readiness.js';

@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Needs(anyone)
  @Get('healthz')
  @Describe('Whether the server responds.', answer(200, 'text/plain'))
  @Header('content-type', 'text/plain; charset=utf-8')
  alive(): string {
    return 'ok\n';
  }

  @Needs(anyone)
  @Get('readyz')
  @Describe('Whether the registry is open, and its disk has space.', answer(200, ReadyView))
  ready(): ReadyView {
    if (!this.readiness.isReady) throw new DomainError('NOT_READY', 'The registry is not open yet.');
    this.readiness.expectSpace();
    return { status: 'ready' };
  }
}
