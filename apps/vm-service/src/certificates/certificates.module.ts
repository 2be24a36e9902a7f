import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity/identity.module.js';
import { AcmeRenewal } from './acme-renewal.js';

/** The renewal of the certificate. It starts after the port on which challenges are answered. */
@Module({ imports: [IdentityModule], providers: [AcmeRenewal], exports: [AcmeRenewal] })
export class CertificatesModule {}
