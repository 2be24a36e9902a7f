import { IsBoolean, IsString } from 'class-validator';

/** GET /api/ext/vms/{ns}/{name}/ports */
export class PortsView {
  /** The identity of the VM. One that is created later with the same name has another. */
  @IsString() uid!: string;
  /**
   * Whether the end of the input reaches the guest alone. Otherwise the guest does not see it, and the connection ends
   * when the guest has been silent for 10 s after it.
   */
  @IsBoolean() passesEnd!: boolean;
}
