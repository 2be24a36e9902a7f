import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity/identity.module.js';
import { CloudInitController } from './cloud-init.controller.js';

/** The check of texts for cloud-init, before a VM is created with them. */
@Module({ imports: [IdentityModule], controllers: [CloudInitController] })
export class CloudInitModule {}
