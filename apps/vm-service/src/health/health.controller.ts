import { Controller, Get, Header } from '@nestjs/common';
import type { ReadyView } from '@headgate/api-contracts';
import { DomainError } from '@headgate/domain-contracts';
import { Registry } from '../composition/registry.js';

@Controller()
export class HealthController {
  constructor(private readonly registry: Registry) {}

  @Get('healthz')
  @Header('content-type', 'text/plain; charset=utf-8')
  alive(): string {
    return 'ok\n';
  }

  @Get('readyz')
  ready(): ReadyView {
    if (!this.registry.isOpen) throw new DomainError('NOT_READY', 'The registry is not open yet.');
    return { status: 'ready' };
  }
}
