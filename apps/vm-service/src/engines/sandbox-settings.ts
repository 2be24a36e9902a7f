import { IsInt, IsOptional, Max, Min } from 'class-validator';

/** The settings of a simulated cluster. */
export class SandboxSettings {
  /** The initial number of simulated instances. */
  @IsOptional() @IsInt() @Min(0) @Max(10_000) instances?: number;
}
