// English: what is loaded only where it is read. A test keeps each of `promises`.

export default {
  promises: {
    device: "For private answers chance decides, on this device or by your own hand. Only the result is sent, which can be your true answer. Each question says how much it tells.",
    confirm: "None of your answers is sent before you have seen it and have confirmed.",
    shown: "What is sent is exactly what you are shown, byte for byte.",
    once: "Chance draws once for each answer and setting: not again if you go back, reload or change your mind. On a new day, or if the server was started anew, it draws anew what was not sent.",
    kept: "This device never stores private answers. What chance draws lies here locked until you send, then your receipt. Within 26 hours the server forgets the key, and nobody can read it.",
    size: "All messages have one length, so that the size tells nothing.",
    plain: "Questions marked “Sent unchanged” are sent just as you answer them.",
    others: "There are no cookies, and nothing comes from other websites.",
  },

  together: {
    title: "All private answers together",
    odds: "From one answer, for a reader who knew nothing, the odds for an option grow at most {odds}-fold. A reader who knew more can learn more.",
    adds: "Answers add up. Together they may tell more than each alone.",
    bits: "Together they tell at most {bits} bits.",
  },

  fingerprint: {
    title: "Fingerprint of this survey",
    why: "It stands for all questions and the code of this page, and is the same for all who are asked the same. It will be on your receipt.",
  },

  check: {
    right: "That is right.",
    wrong: "Not quite. The right answer is {answer}.",
  },

  beside: {
    second: "The second question:",
    crosswise: "Answer both in your head, and tap only whether your two answers are the same.",
    triangular: "Answer both in your head, and tap only whether at least one answer is yes.",
    coin: "Toss a coin. Heads: answer the question above. Tails: answer the one below.",
    die: "Throw a die. {above}: answer the question above. {below}: answer the one below.",
    neither: "{neither} shows that your answer is no.",
    knows: "Your answer to the second question hides the first. People who know it may be able to work out the first.",
    same: "Only whether your two answers are the same is sent.",
    why: "From this alone, any answer could be yours.",
  },

  byHand: {
    safe: "You hide private answers yourself: this device never learns the true ones.",
  },

  reveals: {
    does: "At this setting, what is sent can show your true answer.",
    level: "Can show your answer",
    leaves: "This tells your answer.",
  },

  preview: {
    mark: "This is a preview for trying out. It sends nothing.",
    sent: "This is a preview: nothing was sent.",
    anew: "Start again",
  },

  among: {
    level: "{share} in 100 include your answer",
    how: "Think of 100 people who all choose {own}. What is sent names {own}, among others, for about {count} of them, not for the other {rest}.",
  },

  compares: {
    does: "By chance, this device draws yes or no. It sends only whether your answer matches it.",
    sent: "Will be sent, compared with a random yes or no: {words}",
    leaves: "Your own answer stays here. Nobody can be sure of it.",
  },

  loud: {
    does: "Chance may change your answer on this device. But what is sent tells a lot about it.",
    level: "Tells a lot about you",
    leaves: "This tells a lot about your answer.",
    how: "This tells a lot about your answer: the odds for an option can grow {odds}-fold.",
  },

  refuses: {
    insecure: "This page came over an insecure connection, so it asks nothing. Please open this address instead:",
    old: "This browser lacks what the page needs to draw by chance. Please try a newer browser.",
    closed: "It is closed and takes no more answers.",
    broken: "This page refuses to ask this survey: it contradicts itself or could betray private answers.",
    stranger: "Something was loaded with this page that could read along, so it asks nothing.",
    held: "Another page holds this one, and could read along. Close both and open this address:",
  },
};
