// What rounds in turn say: each gives the seconds of one call of ours and one of the peer's, taken one after the other.

export function medianOf(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// ratio: how many times the peer's time ours is shorter, the median of the rounds' own ratios, with the lowest and the highest. Where the
// two do different work, `work` are the operations of one call each and the ratio is of rates.
export function summary(rounds, work = { ours: 1, peer: 1 }) {
  const ratios = rounds.map(({ ours, peer }) => (peer / work.peer) / (ours / work.ours));
  return {
    ours_seconds: medianOf(rounds.map(({ ours }) => ours)), peer_seconds: medianOf(rounds.map(({ peer }) => peer)),
    ratio: medianOf(ratios), lowest: Math.min(...ratios), highest: Math.max(...ratios), rounds: rounds.length,
  };
}

// Calls of one sample, so that it takes at least `least` seconds: doubled from 1, each step the shorter of two tries.
export async function callsPerSample(seconds, least) {
  for (let calls = 1; ; calls *= 2) {
    if (await seconds(calls) >= least && await seconds(calls) >= least) return calls;
  }
}
