import { Injectable } from '@nestjs/common';
import { RegistryDatabase } from '@headgate/registry-store';
import { Readiness } from '../platform/readiness.js';

/** The service is ready when the registry is open. */
@Injectable()
export class RegistryReadiness extends Readiness {
  constructor(private readonly database: RegistryDatabase) {
    super();
  }

  override get isReady(): boolean {
    return this.database.isOpen;
  }
}
