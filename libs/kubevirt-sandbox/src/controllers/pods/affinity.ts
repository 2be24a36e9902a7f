/** The parts of a pod's affinity that the scheduler supports. */
export interface Affinity {
  nodeAffinity?: {
    requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: { matchExpressions?: Requirement[] }[] };
  };
  podAntiAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[] };
}

export interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface PodAffinityTerm {
  labelSelector?: { matchLabels?: Record<string, string> };
  /** The label of nodes that divides them into domains. */
  topologyKey: string;
}
