// The course: what follows what, and what each chapter rests on. The words are in texts/*/course.ts, under the same names.
export interface Chapter {
  name: string;
  figures: readonly string[]; // experiments of the module
  claims: readonly string[];
  mistakes: readonly string[]; // switches of the claim registry
  tries: readonly string[]; // settings as the address has them; what each is for is the text of the same place
}

export const chapters: readonly Chapter[] = [
  { name: 'storage', figures: ['memory-tradeoff'], claims: ['LM01', 'LM02'], mistakes: [],
    tries: ['memory-tradeoff.key_width=1024&memory-tradeoff.value_width=1024'] },
  { name: 'kernel', figures: ['softmax-kernel'], claims: ['LM04', 'LM20', 'LM22'], mistakes: ['no-causal-mask'],
    tries: ['softmax-kernel.scale=8', 'softmax-kernel.causal=0'] },
  { name: 'state', figures: ['recurrent-state'], claims: ['LM03', 'LM05', 'LM06', 'LM07', 'LM14', 'LM24'], mistakes: ['read-before-write'],
    tries: ['recurrent-state.order=1'] },
  { name: 'rewriting', figures: ['correction'], claims: ['LM08', 'LM09', 'LM10', 'LM11', 'LM12', 'LM15', 'LM16', 'LM17', 'LM18', 'LM19', 'RM03'],
    mistakes: ['half-beta', 'no-forgetting', 'error-before-decay'],
    tries: ['correction.rho=0', 'correction.beta=2', 'correction.alpha=0.5&correction.order=1'] },
  { name: 'scan', figures: ['scan-matrix'], claims: ['RM01', 'RM02', 'RM14', 'RM15'], mistakes: [],
    tries: ['scan-matrix.boundary=1', 'scan-matrix.boundary=2'] },
  { name: 'items', figures: ['picture-readback', 'interference-growth', 'least-squares'],
    claims: ['AM01', 'AM02', 'AM03', 'AM04', 'AM05', 'AM06', 'AM07', 'AM08', 'AM20'], mistakes: [], tries: ['picture-readback.items=1024'] },
  { name: 'sharpness', figures: ['responses', 'truncated-exponentials', 'softmax-weights', 'logn-sharpening', 'noisy-query', 'hopfield'],
    claims: ['AM09', 'AM10', 'AM11', 'AM12', 'AM13', 'AM14', 'AM15', 'AM16', 'AM17', 'AM18', 'AM19', 'AM21', 'AM22'], mistakes: [],
    tries: ['noisy-query.beta=24', 'hopfield.beta=2'] },
  { name: 'recall', figures: ['recall-bytes', 'recall-shape', 'recall-distance', 'recall-conflict'], claims: ['RM08', 'RM11'],
    mistakes: ['repeated-keys', 'newest-only'], tries: ['recall-distance.alpha=1'] },
  { name: 'precision', figures: ['state-precision'], claims: ['LM13', 'RM10'], mistakes: ['single-precision'], tries: ['state-precision.alpha=1'] },
  { name: 'hybrid', figures: ['hybrid-ablation'], claims: ['RM12'], mistakes: [], tries: ['hybrid-ablation.window=1'] },
  { name: 'depth', figures: ['depth-rounds'], claims: ['LM23', 'RM13'], mistakes: [], tries: ['depth-rounds.rounds=2'] },
  { name: 'segments', figures: ['segment-rows'], claims: ['RM04', 'RM05'], mistakes: [], tries: ['segment-rows.limit=0'] },
  { name: 'resets', figures: ['reset-leak'], claims: ['LM21', 'RM09'], mistakes: ['no-reset'], tries: ['reset-leak.alpha=1'] },
  { name: 'neighbours', figures: ['knn-neighbours'], claims: ['RM06', 'RM07'], mistakes: [],
    tries: ['knn-neighbours.poison=1', 'knn-neighbours.foreign=1'] },
  { name: 'layer', figures: ['layer-opened'], claims: [], mistakes: [], tries: ['layer-opened.rate=16'] },
  { name: 'models', figures: ['ledger'], claims: ['LM01', 'LM02'], mistakes: [], tries: ['ledger.kv_bits=4'] },
  { name: 'time', figures: ['wall-clock'], claims: [], mistakes: [], tries: ['wall-clock.width=128'] },
];
