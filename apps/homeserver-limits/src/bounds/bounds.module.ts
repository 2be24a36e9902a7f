import { Directory, Holdings, Identity } from '@headgate/homeserver-contracts';
import type { DecisionListener } from '@headgate/limits-nest';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { DECISION_LISTENER } from '../metrics/limits-metrics.js';
import { MetricsModule } from '../metrics/metrics.module.js';
import { Caps } from '../rules/caps.js';
import { Rules } from '../rules/rules.js';
import { RulesModule } from '../rules/rules.module.js';
import { RecipientKeys } from '../state/recipient-keys.js';
import { AccountDataBound } from './account-data.bound.js';
import type { Bound } from './bound.js';
import { Bounds } from './bounds.js';
import { CountedRules } from './counted-rules.js';
import { CreateFilterBound } from './create-filter.bound.js';
import { DehydratedDeviceBound } from './dehydrated-device.bound.js';
import { DelayedEventCaps } from './delayed-event-caps.js';
import { InteractiveAuthBound, OptionalAuthBound } from './interactive-auth.bound.js';
import { LoginBound } from './login.bound.js';
import { ManageDelayedBound } from './manage-delayed.bound.js';
import { OperationRules } from './operation-rules.js';
import { OpenIdTokenBound } from './openid-token.bound.js';
import { RegisterBound } from './register.bound.js';
import { RingRate } from './ring-rate.js';
import { SendTransactionBound } from './send-transaction.bound.js';
import { ScheduleDelayedBound, SendBound, SetStateBound } from './send.bound.js';
import { SetPusherBound } from './set-pusher.bound.js';
import { SfuCredentialBound } from './sfu-credential.bound.js';
import { UploadKeysBound } from './upload-keys.bound.js';
import { CreateMediaBound, UploadBound } from './upload.bound.js';

const BOUNDS = [
  LoginBound,
  RegisterBound,
  InteractiveAuthBound,
  OptionalAuthBound,
  SendBound,
  SetStateBound,
  ScheduleDelayedBound,
  ManageDelayedBound,
  OpenIdTokenBound,
  SfuCredentialBound,
  UploadBound,
  CreateMediaBound,
  CreateFilterBound,
  AccountDataBound,
  UploadKeysBound,
  DehydratedDeviceBound,
  SetPusherBound,
  SendTransactionBound,
];

/** One class per bound, the same for an upstream and for the embedded homeserver. */
@Module({})
export class BoundsModule {
  /** @param homeserver exports the ports `Identity`, `Directory` and `Holdings` */
  static over(homeserver: Type): DynamicModule {
    return {
      module: BoundsModule,
      imports: [homeserver, RulesModule, MetricsModule],
      providers: [
        RingRate,
        {
          provide: DelayedEventCaps,
          useFactory: (caps: Caps, rules: Rules, holdings: Holdings, config: LiveConfig, watch: DecisionListener) =>
            new DelayedEventCaps({ caps, rules, holdings, config, watch }),
          inject: [Caps, Rules, Holdings, LiveConfig, DECISION_LISTENER],
        },
        ...BOUNDS,
        {
          provide: OperationRules,
          useFactory: (
            rules: Rules,
            identity: Identity,
            directory: Directory,
            recipients: RecipientKeys,
            config: LiveConfig,
          ) => {
            const counted = new CountedRules(rules, identity, recipients, () => config.current.server.name);
            return new OperationRules(rules, identity, directory, counted);
          },
          inject: [Rules, Identity, Directory, RecipientKeys, LiveConfig],
        },
        { provide: Bounds, useFactory: (...bounds: Bound[]) => new Bounds(bounds), inject: BOUNDS },
      ],
      exports: [Bounds, OperationRules],
    };
  }
}
