import { Module } from '@nestjs/common';
import { Audit, Clock, SshKeyStore } from '@headgate/domain-contracts';
import { AddSshKey, RemoveSshKey } from '@headgate/instances';
import { IdentityModule } from '../identity/identity.module.js';
import { provideClass } from '../platform/provide-class.js';
import { StoreModule } from '../store/store.module.js';
import { SshKeysController } from './ssh-keys.controller.js';

/** The SSH public keys that users have stored for new VMs. */
@Module({
  imports: [StoreModule, IdentityModule],
  controllers: [SshKeysController],
  providers: [provideClass(AddSshKey, [SshKeyStore, Clock, Audit]), provideClass(RemoveSshKey, [SshKeyStore, Audit])],
})
export class SshKeysModule {}
