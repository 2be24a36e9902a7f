/** The titles of checks that do not pass, by the names of the checks. */
export const CHECK_TITLES: Readonly<Record<string, string>> = {
  api: 'The cluster does not answer',
  discovery: "The cluster's components can't be read",
  kubevirt: 'KubeVirt is not ready',
  'kubevirt-api': "Actions and consoles don't work",
  'kubevirt-gates': 'Features of KubeVirt are off',
  'live-update': 'More CPU and memory take effect only after a restart',
  cdi: "Images can't be imported",
  multus: 'There are no further networks',
  metrics: 'There are no CPU and memory figures',
  kvm: 'VMs have no hardware acceleration',
  migration: "Running VMs can't migrate",
  'storage-class': 'New disks have no storage class',
  'storage-expansion': "Disks can't be expanded",
  'snapshot-class': "Disks can't be snapshotted",
  rights: "The service's account lacks rights",
  namespace: 'The namespace for new instances is missing',
};
