import { procedure } from './procedures.js';
import { bytes, flag, nothing, nullable, string, struct, uint } from './wire/codec.js';
import { domain, textParams } from './wire/types.js';

/** The limits of libvirt. */
const MAX_COOKIE_BYTES = 4_194_304;
const MAX_MIGRATION_PARAMS = 64;

const params = textParams(MAX_MIGRATION_PARAMS);
const cookie = bytes(MAX_COOKIE_BYTES);

/**
 * The five phases of a migration that a client directs (version 3 of libvirt's protocol): the source begins, the
 * destination prepares, the source performs, the destination finishes, the source confirms. Each phase returns a cookie
 * for the next one. libvirt cancels the migration on both sides if a connection ends before that.
 */
export const migrationProcedures = {
  begin: procedure(
    'DomainMigrateBegin3Params',
    302,
    struct({ domain, params, flags: uint }),
    struct({ cookie, xml: string }),
  ),
  prepare: procedure(
    'DomainMigratePrepare3Params',
    303,
    struct({ params, cookie, flags: uint }),
    struct({ cookie, uri: nullable(string) }),
  ),
  /** Ends when the guest has stopped on the source and its state has arrived. */
  perform: procedure(
    'DomainMigratePerform3Params',
    305,
    struct({ domain, destinationUri: nullable(string), params, cookie, flags: uint }),
    struct({ cookie }),
  ),
  finish: procedure(
    'DomainMigrateFinish3Params',
    306,
    struct({ params, cookie, flags: uint, isCanceled: flag }),
    struct({ domain, cookie }),
  ),
  confirm: procedure(
    'DomainMigrateConfirm3Params',
    307,
    struct({ domain, params, cookie, flags: uint, isCanceled: flag }),
    nothing,
  ),
} as const;
