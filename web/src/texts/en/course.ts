// The course. A chapter asks, tells, shows figures, and names what to try; the words of a try stand in the order of course.ts.
export const course = {
  storage: {
    short: 'Storage',
    heading: 'Why keep a state and not everything?',
    text: [
      'A model that writes one token after another (a token is a piece of text, about a word) must hold on to what came before. Softmax attention keeps two rows of numbers for every token, a key of $K$ numbers to find it by and a value of $V$ to answer with, so its memory grows with the text: with $K=V=64$ and 4 bytes a number to 32 MiB at 65 536 tokens, for each head of each layer (a head is a part of a layer with keys and values of its own). A fixed state of $K\\times V$ numbers, with a normalizer of $K$ more (chapter 3), takes 16.25 KiB at any length.',
      'At that length it is 2016 times smaller. It is not 2016 times faster: the figure counts bytes at one length, and says nothing of time, which the last chapter measures.',
      'The price is crosstalk: keys that resemble each other disturb each other\'s answers. How much they resemble is told by their inner product, the sum of their numbers multiplied pair by pair; keys whose inner product is 0 are called orthogonal and leave each other alone. A window, which keeps only the newest tokens, is small as well; what lies before it is lost altogether.',
    ],
    figures: { 'memory-tradeoff': { text: 'First, what must be stored as the text grows; explicit keys and values are those of attention, one by one. Then two pairs are written, one after the other, and both keys are read again: by an outer product, which only adds, and by two rules that correct (chapter 4). The more alike the keys, the further an answer lies from its value.' } },
    tries: ['Make the state large: with $K=V=1024$ it takes more than the history of any short text.'],
  },
  kernel: {
    short: 'From softmax to a kernel',
    heading: 'What changes when softmax becomes a kernel?',
    text: [
      'Attention answers with a mean of the values. A token asks with a query $q$, and the inner product $q\\cdot k$ with a key is that key\'s score. Softmax weighs each value by the exponential of its score, and needs every key to do so. Linear attention first sends query and key through a function $\\phi$ and weighs by $\\phi(q)\\cdot\\phi(k)$, which is called a kernel; here $\\phi$ is elu + 1, that is $x+1$ above 0 and $e^x$ below. A product can be taken apart: $\\sum_i\\phi(q)\\phi(k_i)^{\\top}v_i=\\phi(q)\\,S$ with $S=\\sum_i\\phi(k_i)^{\\top}v_i$. The keys are gone, the state $S$ is enough.',
      'These are two operators, not two ways to compute one. On the eight tokens of this figure their outputs differ by up to 0.92.',
    ],
    figures: { 'softmax-kernel': { text: 'Every row adds up to 1 (a little less for the kernel: a small $\\varepsilon$ is added to what it divides by). The upper right stays empty: a mask keeps each token from seeing later ones.' } },
    tries: ['Sharpen softmax: at a scale of 8 it picks single tokens. The kernel has nothing of the kind.', 'Take the mask away: the first row now weighs tokens that do not exist yet.'],
  },
  state: {
    short: 'One token, step by step',
    heading: 'What does one token do to the state?',
    text: [
      'A token brings a key, a value and a query. It writes: the outer product of $\\phi(k)$ and $v$ (each number of the one times each of the other) is added to $S$, and $\\phi(k)$ to a normalizer $z$. Then it reads: $\\phi(q)S$ is a sum of all values so far, its own included, each with its weight; $\\phi(q)z$ is the sum of these weights. Divided, they give the mean.',
      'Nothing else is kept. Whether one looks back at all eight tokens or carries $S$ and $z$ along, the outputs are the same.',
    ],
    figures: { 'recurrent-state': { text: 'Step through the tokens. Each cell of the outer product is the number on its left times the number above it; before plus written gives after.' } },
    tries: ['Read before writing: each token then misses itself, and the first has nothing to read at all.'],
  },
  rewriting: {
    short: 'Correction and forgetting',
    heading: 'How is an entry corrected, and how does it fade?',
    text: [
      'A sum takes nothing back: when a key comes again with a new value, it answers with a mixture. The delta rule first asks the state what it would answer, $kS$, and writes only the difference to $v$. The strength $\\beta$ says how much of it: 0 writes nothing, 1 makes a key of length 1 answer with the new value exactly, 2 overshoots to the other side.',
      'A write moves the answer of any other key as far as that key resembles the one written. The answer of an orthogonal key stays, whatever $\\beta$ is; only the gate makes it fade.',
      'The gate $\\alpha$, from 0 to 1, is the share of the whole state that is kept at each step; the delta rule with a gate is called gated. The order is decay, measure, write, read: an error measured before the decay would correct a state that no longer exists.',
    ],
    figures: { correction: { text: 'Two keys of length 1 with inner product $\\rho$: at 1 they are the same, at 0 orthogonal. The first should read 1 0, the second 0 1. The first write is done, the figure shows the second.' } },
    tries: ['Make the keys orthogonal: the second write leaves the first answer alone.', 'Write at strength 2: the answer swings past its value.', 'Measure the error before the decay, with $\\alpha=0.5$: the second key misses its value even at $\\beta=1$.'],
  },
  scan: {
    short: 'A scan and its matrix',
    heading: 'Which matrix is a scan, and what must a chunk hand over?',
    text: [
      'In a scan every token first shrinks the state by a decay of its own, then adds to it. Written out this is one triangular matrix: in row $j$ and column $i$ stands what is left, at token $j$, of what token $i$ wrote. It is the product of the decays of the tokens from $i+1$ to $j$.',
      'A scan whose decays depend on the token is called selective. Mamba has one scan in each channel (each number of the vector that is a token); SSD (state space duality, the memory of Mamba-2) has one decay for a whole head.',
      'Taken one by one, tokens wait for one another. For speed the sequence is cut into chunks: inside a chunk a small matrix answers for all tokens at once. From one chunk to the next only the state is handed over: the state after the last token, to which the next chunk still applies its own first decay.',
    ],
    figures: { 'scan-matrix': { text: 'Done right, the third matrix is 0 everywhere, up to rounding. Two errors by one are built in; where does each show, and why only there?' } },
    tries: ['Make the first error by one: in which blocks does it show?', 'Make the second: which columns suffer most?'],
    answer: 'In both, every chunk is right in itself: the blocks on the diagonal agree. In the first, the state that was handed over escapes the first decay of the next chunk, so all below is too large by that factor. In the second, the state is handed over one token early: the column of the last token of each chunk is empty, and the rest escapes that token\'s decay.',
  },
  items: {
    short: 'Associative memory',
    heading: 'What is left of one item when many are stored?',
    text: [
      'A state is an associative memory: pairs go in as outer products, and a key asks for its value. The answer is the value, plus what all other items add. $R$ says how long that second part is against the first: at $R=1$ the others weigh as much as the item asked for.',
    ],
    figures: {
      'picture-readback': { heading: 'What is left of a picture?', text: 'Each picture is one value of 64 numbers, stored under a random key with up to 1023 random others. The key reads it back. Draw your own.' },
      'interference-growth': { heading: 'How fast do the others drown it?', text: 'The theory gives the root mean square of $R$, $\\sqrt{(M-1)/K}$: with $K=64$ it reaches 1 at 65 items. Sampling agrees; the median and the mean of $R$ are a little lower and can only be sampled.' },
      'least-squares': { heading: 'What does it bring to write all items at once?', text: 'An outer product adds each item without looking at the rest. Least squares solves for the matrix that reads all of them back, and can do so exactly up to $K$ independent keys.' },
    },
    tries: ['Store 1024 items: sixteen times as many as the key is wide.'],
  },
  sharpness: {
    short: 'Sharpness',
    heading: 'How does a sharper answer hold more?',
    text: [
      'The outer product weighs every item by its score, so many small scores add up. A response that favours high scores keeps the many quiet: a power of a ReLU (which cuts what is below 0 to 0), a few terms of the series of an exponential, the whole exponential. The last one, divided by its sum, is softmax attention. Of softmax, $\\beta$ says how sharp it is: the same letter as the write strength of chapter 4, but another number. It holds far more, but no fixed state computes it: it needs every key.',
    ],
    figures: {
      responses: { heading: 'How many items does each response hold?', text: 'Cutting negative scores and raising the rest to a power lets the best match stand out. The higher the power, the later the others win.' },
      'truncated-exponentials': { heading: 'How much of an exponential is needed?', text: 'At these settings two terms of the series hold fewer items than linear weights, four slightly more than the square of a ReLU, and each further term more again.' },
      'softmax-weights': { heading: 'Where does the weight of a softmax go?', text: 'The same scores at several $\\beta$: from nearly equal shares to one winner.' },
      'logn-sharpening': { heading: 'Does a growing $\\beta$ keep up with a growing memory?', text: 'LogN sharpening raises $\\beta$ with the logarithm of the number of items, beyond the number it was chosen for.' },
      'noisy-query': { heading: 'What does a query lose that only resembles its key?', text: 'The target answers more weakly, while the others answer as before. Sharp responses lose most: sharper is not always better.' },
      hopfield: { heading: 'Where does a modern Hopfield network come to rest?', text: 'This is softmax attention read again and again: each step reads the patterns with the state and takes what it reads as the next state. It stops when its weights hardly move; near a critical $\\beta$ that is far from rest.' },
    },
    tries: ['Sharpen to $\\beta=24$ with noisy queries: a small mismatch now costs the answer.', 'Let the Hopfield network stop at $\\beta=2$: it nearly stands still long before it has arrived.'],
  },
  recall: {
    short: 'Recall and capacity',
    heading: 'How much does a memory of fixed size recall?',
    text: [
      'Random keys and values are written to each memory and read back; a read counts when the right value is the nearest. Explicit keys and values recall all of them where keys are wide enough, and grow with every pair. A state does not grow: the more pairs it holds, the more often another value comes out nearest.',
    ],
    figures: {
      'recall-bytes': { heading: 'How much for how many bytes?', text: 'A larger state fails later. Linear attention with $\\phi=\\mathrm{elu}+1$ weighs random keys almost alike and answers with nearly the mean of all values.' },
      'recall-shape': { heading: 'Which shape and which precision should a state have?', text: 'The same number of numbers can be a wide key or a wide value. A rounded state still recalls: with as many pairs as here the others limit it long before its bits do. A long sum is another matter (chapter 9).' },
      'recall-distance': { heading: 'How far back does each memory reach?', text: 'A window ends sharply: what is older than its $W$ tokens is gone. A decay makes room for the new by letting the old fade. A delta memory overwrites what resembles the new.' },
      'recall-conflict': { heading: 'What if a key is written again, or resembles another?', text: 'Sums keep every value that a key ever had. The delta rule answers with the newest most often; a decay helps too, a plain sum does not.' },
    },
    tries: ['Never forget, $\\alpha=1$: the gated memory then fills up like the others.'],
  },
  precision: {
    short: 'Drift by precision',
    heading: 'How far does a state drift in a narrow format?',
    text: [
      'A state is rounded after every write. A sum collects the rounding of every token. A decay or a correction forgets old errors together with old values, so the drift stops growing. In bfloat16, which keeps 8 binary digits of a number, a sum can stop altogether: once a step is less than half of the last digit, adding it changes nothing.',
    ],
    figures: { 'state-precision': { text: 'The error against float64 as the sequence grows; with more tokens, up to a million, it is streamed.' } },
    tries: ['Take the decay away, $\\alpha=1$: the second picture becomes the first.'],
  },
  hybrid: {
    short: 'Window and recurrence',
    heading: 'What does a window bring to a recurrence, and the recurrence to it?',
    text: ['A window is exact and short; a recurrence, which carries a state from token to token, is long and blurred. In one stack the window adds exactness nearby, the state some reach beyond.'],
    figures: { 'hybrid-ablation': { text: 'Pairs are asked for by how far back they stand, of the window alone, the state alone, and both.' } },
    tries: ['Shrink the window to one pair: what remains is the recurrence.'],
  },
  depth: {
    short: 'Depth',
    heading: 'What do more rounds of one layer bring, and what do they cost?',
    text: ['Running one layer $R$ times gives depth without further parameters: there is one set of them, whatever $R$ (a number of rounds in this chapter, no longer the ratio of chapter 6). Neither operations nor memory are saved: every round computes anew and keeps keys and values of its own. Each token here starts somewhere on a chain and must walk to its end, one node a round, and halts when it is there.'],
    figures: { 'depth-rounds': { text: 'How many tokens arrive, how many rounds they use, and what grows with the rounds.' } },
    tries: ['Allow two rounds only: tokens that start further away never arrive.'],
  },
  segments: {
    short: 'Segment memory',
    heading: 'What can a segment look back on?',
    text: ['A long text can be read in segments. Between two of them a memory keeps the newest $L$ rows of what a layer saw. They are copies: the next segment may look at them, but no gradient flows back into them, so training does not reach the segment they come from.'],
    figures: { 'segment-rows': { text: 'What lies further back than $L$ rows before the segment is out of reach, and the first token of a segment reaches least.' } },
    tries: ['Keep no rows, $L=0$: each segment starts from nothing.'],
  },
  resets: {
    short: 'Resets',
    heading: 'What does the next request read when a state is not reset?',
    text: ['A server keeps one state for each place in its batch and hands the place to the next request. Unless the state is set back to zero where a request, a row or a document begins, the new one reads what the old one wrote: somebody else\'s text leaks into its answers. With a reset the second request is the same as alone, bit for bit.'],
    figures: { 'reset-leak': { text: 'The leak as a number: how large what the first request left is, beside the right answer of the second.' } },
    tries: ['Never forget, $\\alpha=1$: what leaked into SSD no longer fades; what leaked into the delta rule still does, since later writes correct it.'],
  },
  neighbours: {
    short: 'kNN memory',
    heading: 'What does a memory of near contexts add to a model\'s guess?',
    text: ['A kNN memory (k nearest neighbours) keeps contexts and the token that followed each. Nothing is summed: the nearest records of a query share their weight among their tokens, and $\\lambda$ mixes that into the model\'s distribution. It grows with every record, like explicit keys and values, and lies outside the model.'],
    figures: { 'knn-neighbours': { text: 'The records near the query, what each weighs, and the next token before and after.' } },
    tries: ['Poison the memory: one record placed at the query\'s own point takes the answer over.', 'Offer a record of another domain (somebody else\'s notes): it is refused before anything is searched.'],
  },
  layer: {
    short: 'Inside a layer',
    heading: 'What happens inside one layer of a model?',
    text: [
      'Around its memory a layer has projections (products with matrices of weights), a short convolution, gates and a norm, which brings a vector to one length. This is the layer Gated DeltaNet, with the kinds of weights and the order of steps of the language model Qwen3-Next, but small and with random numbers: each token is projected to a query, a key and a value, mixed with the three tokens before it, and written into $S$ with a decay and a strength of its own.',
      'Besides $S$ the layer keeps the last three inputs of the convolution. Nothing else passes from token to token, so a text may be cut anywhere and go on from these two.',
    ],
    figures: { 'layer-opened': { text: 'Step through the tokens. SiLU, which stands after the convolution and in the output gate, is $x$ times a share from 0 to 1 that grows with $x$. Everywhere but in $S$ the last row belongs to the newest token, and the rows above it no longer change.' } },
    tries: ['Forget fast: what $S$ holds is little more than the newest token.'],
  },
  models: {
    short: 'The ledger of a model',
    heading: 'What does a real model keep for each request?',
    text: ['Pick a model, or give its `config.json`: the ledger counts, layer by layer, what every request holds on to while text is generated. Attention adds keys and values with each token; states and windows stop growing. Where the lines cross, at the break-even, a fixed state has paid for itself; for shorter texts it takes more than full attention would.'],
    figures: { ledger: { text: 'Bytes of one request, counted from the shapes of the layers. Weights and workspace are not in it.' } },
    tries: ['Keep keys and values in 4 bits: the break-even moves to longer texts.'],
  },
  time: {
    short: 'Wall clock',
    heading: 'From what length on is attention the slower one?',
    text: ['Attention takes work that grows with the square of the length, the others with the length itself, so beyond some length attention is the slower one. Which length that is depends on how well each runs on this machine, and cannot be read off the bytes of a state. Each case is first held against its definition and warmed up; the median of five samples is drawn. It takes some ten seconds.'],
    figures: { 'wall-clock': { text: 'One call of each mechanism, one head, one thread, in this browser. Times depend on your machine: no statement of this page rests on them.' } },
    tries: ['Twice the width: the states grow with its square, and the crossing moves.'],
  },
} as const;
