/** Verifies certificates of boots without the service. An entry of its own, because it needs none of the DTOs. */
export { verifyProof, type ProofVerdict } from '@headgate/domain-contracts';
